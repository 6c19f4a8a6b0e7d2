import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { encodeIntent } from '../../domain/workload/intent.codec.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import type { Answered, AsOf, Desk, DeskFault, Orderer } from '../api/desk.ts'
import { askHttp, type HttpQuestion } from './http-request.ts'
import { faultIn } from './remote-fault.ts'

/** A process that answers takes a moment for a question, and longer for what it has to fold or count. */
const silenceMaxMs = 60_000
/** Beyond a query's own limit: the query itself is ended by the other side. */
const queryGraceMs = 10_000
const rebuildSilenceMaxMs = 3_600_000

const json = 'application/json'

/** The desk of a running system, by its address. Answers are those of the desk there. */
export const remoteDesk = (address: string): Desk => {
  const ask =
    <A>(method: HttpQuestion['method'], path: string, more: Partial<HttpQuestion> = {}): Answered<A> =>
    async () => {
      const asked = await askHttp(address, { method, path, silenceMaxMs, ...more })
      if (E.isLeft(asked)) return E.left(unreachable(address, asked.left))
      const { status, text } = asked.right
      const value = parsed(text)
      if (status >= 200 && status < 300 && value !== undefined) return E.right(value as A)
      return E.left(faultIn(value) ?? unreachable(address, `it answers ${status}, and not as Leasehold does`))
    }
  const get = <A>(path: string, query: Query = {}) => ask<A>('GET', path + textOf(query))
  const post = <A>(path: string, value: Json, more: Partial<HttpQuestion> = {}) =>
    ask<A>('POST', path, { body: { type: json, bytes: JSON.stringify(value) }, ...more })

  return {
    submit: (intents, by) => ask('POST', `/v1/workloads${textOf(ordering(by))}`, { body: documents(intents) }),
    cancel: (workload, by) => post(`${workloadPath(workload)}/cancel`, byOf(by)),
    hold: (workload, by) => post(`${workloadPath(workload)}/hold`, byOf(by)),
    release: (workload, by) => post(`${workloadPath(workload)}/release`, byOf(by)),
    concludeDrill: ({ modelFamily, outcome, team }, by) =>
      post('/v1/drills', { team, family: modelFamily, outcome, ...byOf(by) }),
    facts: (lines) => ask('POST', '/v1/facts', { body: { type: 'application/x-ndjson', bytes: lines } }),
    setHealth: (node, device, health, by) => post(`/v1/nodes/${part(node)}/health`, { health, device, ...byOf(by) }),
    activatePolicy: (document, by) => post(`/v1/policy${textOf(ordering(by))}`, document),
    grantException: (exception, by) => post(`/v1/policy/exceptions${textOf(ordering(by))}`, exception),
    revokeException: (name, by) => post(`/v1/policy/exceptions/${part(name)}/revoke`, byOf(by)),
    freeze: (pool, frozen, by) => post('/v1/freeze', { pool, frozen, ...byOf(by) }),

    state: (workload) => get(workloadPath(workload)),
    why: (workload, at) => get(`${workloadPath(workload)}/why`, { at }),
    whyPreempted: (workload, at) => get(`${workloadPath(workload)}/why-preempted`, { at }),
    prio: (workload, at) => get(`${workloadPath(workload)}/prio`, { at }),
    position: (workload, limit, at) => get(`${workloadPath(workload)}/position`, { limit, at }),
    share: (node, at) => get('/v1/share', { node, at }),
    drills: (at) => get('/v1/drills', { at }),
    policy: (at) => get('/v1/policy', { at }),
    plan: (intents, at) => ask('POST', `/v1/plan${textOf({ at })}`, { body: documents(intents) }),
    queue: (queue, limit, at) => get('/v1/queue', { queue, limit, at }),
    fleet: (at) => get('/v1/fleet', { at }),
    decisions: ({ at, limit, type, workload }) => get('/v1/decisions', { type, workload, at, limit }),
    life: (workload, at) => get(`${workloadPath(workload)}/log`, { at }),

    sql: (query, { rowsMax, timeMaxMs }) =>
      post('/v1/sql', { query, timeMaxMs, rowsMax }, { silenceMaxMs: timeMaxMs + queryGraceMs }),
    rebuild: () => post('/v1/rebuild', {}, { silenceMaxMs: rebuildSilenceMaxMs }),

    commands: (limit, at) => get('/v1/commands', { limit, at }),
    deadLetters: () => get('/v1/dlq'),
    deadLetter: (id) => get(`/v1/dlq/${part(id)}`),
    replayDeadLetter: (id, by) => post(`/v1/dlq/${part(id)}/replay`, byOf(by)),
    dropDeadLetter: (id, by) => post(`/v1/dlq/${part(id)}/drop`, byOf(by)),

    status: () => get('/v1/status'),
  }
}

type Query = { readonly [name: string]: string | number | AsOf }

const textOf = (query: Query): string => {
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return words.length === 0 ? '' : `?${words.join('&')}`
}
const part = encodeURIComponent
const workloadPath = (workload: string): string => `/v1/workloads/${part(workload)}`
const byOf = ({ actor, reason }: Orderer) => ({ actor, reason })
const ordering = ({ actor, reason }: Orderer): Query => ({ actor, reason })

const documents = (intents: ReadonlyArray<WorkloadIntent>) => ({
  type: json,
  bytes: JSON.stringify(intents.map(encodeIntent)),
})

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

const unreachable = (address: string, why: string): DeskFault => ({
  type: 'OwnerUnreachable',
  reason: `no answer from \`leasehold up\` at ${address}: ${why}`,
  mend: 'look whether it still runs (`leasehold doctor`) and try again; once it is gone, the folder is opened without it',
})

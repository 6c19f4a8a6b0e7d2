import type { FactsAnswer, SystemStatus, WorkloadState } from '../../services/api/desk.ts'

/** What an outside client gets: an answer, or null where the other side is gone or unwell. */
const ask = async (address: string, path: string, init: RequestInit = {}): Promise<unknown> => {
  try {
    const response = await fetch(`${address}${path}`, { signal: AbortSignal.timeout(30_000), ...init })
    const text = await response.text()
    if (response.status >= 500) return null
    if (!response.ok) throw new RangeError(`${path}: ${response.status} ${text.slice(0, 500)}`)
    return JSON.parse(text) as unknown
  } catch (cause) {
    if (cause instanceof RangeError) throw cause
    return null
  }
}

const post = (address: string, path: string, type: string, body: string) =>
  ask(address, path, { method: 'POST', headers: { 'content-type': type }, body })

export const postFacts = (address: string, lines: ReadonlyArray<string>) =>
  post(
    address,
    '/v1/facts',
    'application/x-ndjson',
    lines.map((line) => `${line}\n`).join(''),
  ) as Promise<FactsAnswer | null>

export interface SubmittedAnswer {
  readonly id: string
  readonly workload: string
  readonly outcome: string
}

export const postIntents = (address: string, intents: ReadonlyArray<object>) =>
  post(
    address,
    '/v1/workloads?actor=u-1',
    'application/json',
    JSON.stringify(intents),
  ) as Promise<ReadonlyArray<SubmittedAnswer> | null>

export const postCancel = (address: string, workload: string) =>
  post(address, `/v1/workloads/${encodeURIComponent(workload)}/cancel`, 'application/json', '{"actor":"u-1"}')

/** Nothing starts any more; what runs goes on to its end. */
export const postFreeze = (address: string) =>
  post(address, '/v1/freeze', 'application/json', '{"actor":"u-1","frozen":true}')

export const postRebuild = (address: string) =>
  ask(address, '/v1/rebuild', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    // Where processors are few it takes its time, and nothing else tells what the views held.
    signal: AbortSignal.timeout(120_000),
  }) as Promise<ReadonlyArray<{
    table: string
    rowsBefore: number
    rowsAfter: number
    hashBefore: string
    hashAfter: string
  }> | null>

export const postSql = (address: string, query: string) =>
  post(address, '/v1/sql', 'application/json', JSON.stringify({ query })) as Promise<{ rows: unknown[][] } | null>

/** Null also where it is not known, as long as what was told has not come. */
export const getState = async (address: string, workload: string): Promise<WorkloadState | null> =>
  ask(address, `/v1/workloads/${encodeURIComponent(workload)}`).catch(() => null) as Promise<WorkloadState | null>

export const getStatus = (address: string) => ask(address, '/v1/status') as Promise<SystemStatus | null>

/** As a person would write it. */
export const intentOf = (name: string, count: number, duration: string): object => ({
  apiVersion: 'capacity.leasehold.dev/v1',
  kind: 'WorkloadIntent',
  metadata: { name, team: 'research', submitter: 'u-1' },
  spec: {
    class: 'training',
    queue: 'default',
    preferred: { accelerator: 'h100-80gb', count },
    expectedDuration: duration,
  },
})

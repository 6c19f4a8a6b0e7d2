import { performance } from 'node:perf_hooks'
import { either as E } from 'fp-ts'
import { AckPolicy, JSONCodec, RetentionPolicy, StorageType, type JsMsg } from 'nats'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import { conclusionOf } from '../../domain/planner/command-event.ts'
import type { Command } from '../../domain/planner/command.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { memoryConcludedCommands } from '../../infra/memory/concluded-commands.ts'
import { natsCommandSink } from '../../infra/nats/command-sink.ts'
import { natsCommandSource } from '../../infra/nats/command-source.ts'
import { NatsLink } from '../../infra/nats/link.ts'
import { natsOutcomeSource } from '../../infra/nats/outcome-source.ts'
import { parseNatsUrl } from '../../infra/nats/place.ts'
import { ratioOf, type Ratio } from './ratio.ts'
import { rightOf } from './standard-log.ts'

const commands = 5_000
const atOnce = 64
const cell = 'cell-bench'
const adapter = 'bench'

/**
 * Commands sent, taken, concluded and their outcomes back, so many under way at once; against the bare client doing the same
 * transfer: a durable publish each way, explicit acks, no ids, no deadlines, nothing decoded.
 */
export const benchCommands = async (natsUrl: string): Promise<Ratio> => {
  let run = 0
  return ratioOf(
    'commands over NATS and back / the bare client',
    commands,
    () => oursOnce(`${natsUrl}?prefix=ours-${run++}`),
    () => bareOnce(`${natsUrl}?prefix=bare-${run++}`),
  )
}

const linkTo = async (url: string): Promise<NatsLink> => rightOf(await NatsLink.open(rightOf(parseNatsUrl(url)))())

const oursOnce = async (url: string): Promise<number> => {
  const [here, there] = [await linkTo(url), await linkTo(url)]
  const source = natsCommandSource(there, { clock: systemClock, concluded: memoryConcludedCommands() })
  const taking = source.subscribe(cell, adapter, () => Promise.resolve({ outcome: 'done', reason: null }))
  let told = 0
  let finish: () => void = () => undefined
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const outcomes = natsOutcomeSource(here).subscribe(cell, (lines) => {
    told += lines.length
    if (told >= commands) finish()
    return Promise.resolve(E.right(undefined))
  })
  const sink = natsCommandSink(here, adapter, systemClock)
  const start = performance.now()
  for (let at = 0; at < commands; at += atOnce)
    for (const sent of await Promise.all(batchAt(at).map((i) => sink.send(commandAt(i))()))) rightOf(sent)
  await finished
  const took = performance.now() - start
  await Promise.all([taking.stop(), outcomes.stop()])
  await Promise.all([here.close(), there.close()])
  return took
}

const bareOnce = async (url: string): Promise<number> => {
  const [here, there] = [await linkTo(url), await linkTo(url)]
  const { prefix } = here.place
  const names = { cmd: `${prefix}_cmd`, out: `${prefix}_out` }
  for (const name of Object.values(names)) {
    await here.manager.streams.add({
      name,
      subjects: [`${name}.>`],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
    })
    await here.manager.consumers.add(name, { durable_name: 'all', ack_policy: AckPolicy.Explicit })
  }
  const codec = JSONCodec()
  const reply = codec.encode(conclusionOf(commandAt(0), systemClock.now(), 'done', null))
  const replies: Promise<void>[] = []
  const commandsIn = await (
    await there.jetStream.consumers.get(names.cmd, 'all')
  ).consume({
    callback: (message: JsMsg) => {
      replies.push(
        there.jetStream.publish(`${names.out}.a`, reply).then(() => {
          message.ack()
        }),
      )
    },
  })
  let told = 0
  let finish: () => void = () => undefined
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const outcomesIn = await (
    await here.jetStream.consumers.get(names.out, 'all')
  ).consume({
    callback: (message: JsMsg) => {
      message.ack()
      if (++told >= commands) finish()
    },
  })
  const start = performance.now()
  for (let at = 0; at < commands; at += atOnce)
    await Promise.all(batchAt(at).map((i) => here.jetStream.publish(`${names.cmd}.a`, codec.encode(commandAt(i)))))
  await finished
  const took = performance.now() - start
  await Promise.all(replies)
  await Promise.all([commandsIn.close(), outcomesIn.close()])
  await Promise.all([here.close(), there.close()])
  return took
}

const batchAt = (from: number): ReadonlyArray<number> =>
  Array.from({ length: Math.min(atOnce, commands - from) }, (_, i) => from + i)

const commandAt = (i: number): Command => ({
  command: `job-${i}/1/start`,
  verb: 'start',
  cell,
  workload: `job-${i}`,
  attempt: 1,
  because: 'admitted',
  issuedAt: (systemClock.now() - 1_000) as EpochMs,
  deadlineAt: (systemClock.now() + 600_000) as EpochMs,
  graceMs: 30_000 as DurationMs,
  lease: [],
  team: 'bench',
  class: 'training',
  estimateMs: null,
})

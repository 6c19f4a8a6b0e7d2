import { afterEach, expect, it } from 'vitest'
import { either as E } from 'fp-ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { CellInput } from '../../../domain/planner/cell-event.ts'
import { encodeFact } from '../../../domain/planner/cloud-event.ts'
import type { Command, CommandOutcome } from '../../../domain/planner/command.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { equalNodes } from '../../../domain/simulation/equal-nodes.ts'
import { decodeIntent } from '../../../domain/workload/intent.codec.ts'
import { startSystem, type System } from '../../../services/main.ts'
import { right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { cellName } from '../../support/up-cell.ts'
import { intentOf, postFacts } from '../../support/up-client.ts'

const folder = tempFolder()
const running: System[] = []
afterEach(async () => {
  for (const system of running.splice(0)) await system.stop()
})

const by = { actor: 'u-1', reason: null }
const shortly = 600 as DurationMs

/** A system whose adapter is this test: it asks for commands and tells facts over HTTP, as a program of anybody's would. */
const started = async (data = folder()) => {
  const system = await right(() =>
    startSystem({
      folder: data,
      cell: cellName,
      version: 'test',
      host: '127.0.0.1',
      port: 0,
      hosts: [],
      clock: 'wall',
      adapter: 'http',
      views: null,
      policy: { commands: { startWithinMs: shortly, startsMax: 3, stopWithinMs: shortly }, ...defaultPolicy },
    }),
  )
  running.push(system)
  const tell = async (id: string, fact: Omit<CellInput, 'at'>) => {
    const line = encodeFact({ id, source: '/test', at: Date.now() as EpochMs, ...fact } as Parameters<
      typeof encodeFact
    >[0])
    expect(await postFacts(system.address, [line])).toMatchObject({ undecodable: 0, refused: 0 })
  }
  return {
    system,
    tell,
    commands: async () => (await (await fetch(`${system.address}/v1/commands`)).json()) as ReadonlyArray<Command>,
    conclude: ({ attempt, command, verb, workload, issuedAt }: Command, outcome: CommandOutcome) =>
      tell(`${command}@${issuedAt}/${outcome}`, {
        type: 'CommandConcluded',
        data: { attempt, command, outcome, reason: null, verb, workload },
      }),
  }
}

const submitted = async ({ system, tell }: Awaited<ReturnType<typeof started>>, name: string) => {
  for (const data of equalNodes(1, 8)) await tell(`node/${data.node}`, { type: 'NodeRegistered', data })
  const intent = decodeIntent(intentOf(name, 8, '10m'))
  if (E.isLeft(intent)) throw new Error(JSON.stringify(intent.left))
  await right(system.desk.submit([intent.right], by))
}

it('should give its commands to whoever asks, until they are concluded', async () => {
  const scene = await started()
  await submitted(scene, 'a')
  const [start] = await scene.commands()
  expect(start).toMatchObject({ command: 'a/1/start', verb: 'start', lease: [{ node: 'node-0000' }] })
  expect(await scene.commands()).toHaveLength(1)
  await scene.conclude(start!, 'done')
  expect(await scene.commands()).toEqual([])
  await right(scene.system.desk.cancel('a', by))
  const [cancel] = await scene.commands()
  expect(cancel).toMatchObject({ command: 'a/1/cancel/1', graceMs: 30_000 })
  await scene.conclude(cancel!, 'done')
  expect((await right(scene.system.desk.state('a'))).state).toBe('cancelled')
})

it('should take back what nobody answers, keep its devices until somebody does, and start it again then', async () => {
  const scene = await started()
  await submitted(scene, 'a')
  await expect.poll(async () => (await scene.commands())[0]?.command, { timeout: 10_000 }).toBe('a/1/evict/1')
  expect((await right(scene.system.desk.fleet(null))).total).toMatchObject({ freeMilli: 0 })
  await scene.conclude((await scene.commands())[0]!, 'done')
  await expect.poll(async () => (await scene.commands())[0]?.command, { timeout: 10_000 }).toBe('a/2/start')
})

it('should give none while it is frozen, let none expire, and give the same again afterwards', async () => {
  const scene = await started()
  await submitted(scene, 'a')
  await right(scene.system.desk.freeze(null, true, by))
  expect(await scene.commands()).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 3 * shortly))
  await right(scene.system.desk.freeze(null, false, by))
  expect((await scene.commands()).map(({ command }) => command)).toEqual(['a/1/start'])
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { digestOf } from '../../infra/chain/log-digest.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { defaultScript } from '../../services/schedulers/embedded/script.ts'
import { right } from '../support/events.ts'
import { factScript, lineOf, numbersFrom } from '../support/fact-script.ts'
import { cellName } from '../support/up-cell.ts'
import type { UpOptions } from '../support/up-child.ts'
import { getStatus, intentOf, postCancel, postFacts, postFreeze, postIntents, postSql } from '../support/up-client.ts'
import { chdbChildren, startUp, type UpProcess } from '../support/up-process.ts'
import { expectOneEffect, expectViewsRebuilt, storedIn } from '../support/up-stored.ts'

/*
 * This process is the outside client of a system that is killed again and again. It believes what is answered, and
 * nothing else.
 */

const kills = 32

const folderFor = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** The folder is let go of in time, and by itself. */
const stop = async (up: UpProcess): Promise<void> => {
  const before = Date.now()
  up.kill('SIGTERM')
  expect(await up.ended).toBe(0)
  expect(Date.now() - before).toBeLessThan(10_000)
}

const undisturbed = async (script: Awaited<ReturnType<typeof factScript>>): Promise<string> => {
  const log = memoryEventLog()
  const recording = { stream: cellName, source: 's', actor: 'a', recordTime: (at: EpochMs) => at }
  const writer = await right(() => CellWriter.open(log, recording))
  for (const [id, input] of script) {
    writer.take(input, id)
    if (writer.isFull) await right(() => writer.flush())
  }
  await right(() => writer.flush())
  return right(digestOf(log))
}

describe('a system that is killed again and again', () => {
  it('should lose no fact that it acknowledged, and come to the log of an undisturbed run', async () => {
    const below = numbersFrom(20_261_130)
    const folder = folderFor()
    const script = await factScript(4, 900)
    const lines = script.map(([id, input]) => lineOf(id, input))
    const windowMax = Math.floor(lines.length / (kills + 3))
    let answered = 0
    let killed = 0
    let unanswered = 0
    while (answered < lines.length) {
      // Views that come and go: what the one before them left out is theirs to bring in.
      const up = await startUp({ folder, clock: 'events', views: killed % 3 === 0 || killed === kills })
      const last = killed < kills ? Math.min(lines.length, answered + below(windowMax)) : lines.length
      const sends = (async () => {
        // What was not answered, and some that was.
        for (let from = Math.max(0, answered - below(5)); from < lines.length;) {
          const piece = lines.slice(from, from + 1 + below(12))
          const answer = await postFacts(up.address, piece)
          if (answer === null) {
            unanswered += 1
            return
          }
          // A tick that was not needed is not kept, and comes too late when it comes again.
          const ticks = piece.filter((line) => line.includes('.clock.ticked.')).length
          expect(answer.refused).toBeLessThanOrEqual(ticks)
          expect(answer.recorded + answer.duplicate + answer.unneeded + answer.refused).toBe(piece.length)
          from += piece.length
          answered = Math.max(answered, from)
        }
      })()
      if (killed < kills) {
        // A seeded instant: so many are answered, and then so many milliseconds.
        const failed = sends.then(() => true)
        while (answered < last && !(await Promise.race([failed, wait(1, false)])));
        await wait(below(12))
        up.kill('SIGKILL')
        await up.ended
        await sends
        killed += 1
        continue
      }
      await sends
      await expectViewsRebuilt(up.address)
      await stop(up)
    }
    console.info(`facts: ${killed} kills, ${unanswered} of them with a request in hand, ${lines.length} facts`)
    expect(killed).toBeGreaterThanOrEqual(30)
    expect(unanswered).toBeGreaterThanOrEqual(15)
    const { events, digest } = await storedIn(folder)
    const ids = new Set(events.map(({ id }) => id))
    const sent = script.filter(([, { type }]) => type !== 'Ticked').map(([id]) => id)
    expect(sent.filter((id) => !ids.has(id))).toEqual([])
    expect(digest).toBe(await undisturbed(script))
  }, 400_000)

  it('should lose no intent, and let no command have two effects', async () => {
    const below = numbersFrom(20_261_201)
    const folder = folderFor()
    const pretended = {
      nodes: 4,
      gpusPerNode: 8,
      script: { ...defaultScript, seed: 5, speedUp: 2_000, startFailsPerMille: 50 },
    }
    const options: UpOptions = { folder, clock: 'wall', adapter: pretended, views: true }
    const acknowledged: string[] = []
    let sent = 0
    const client = async (up: UpProcess): Promise<void> => {
      for (;;) {
        const names = Array.from({ length: 1 + below(3) }, () => `job-${sent++}`)
        const intents = names.map((name) => intentOf(name, 1 + below(8), `${1 + below(40)}m`))
        const answer = await postIntents(up.address, intents)
        if (answer === null) return
        expect(answer.map(({ outcome }) => outcome)).toEqual(names.map(() => 'recorded'))
        acknowledged.push(...names)
        const victim = acknowledged[below(acknowledged.length)]!
        // It may have ended, which is no failure of ours.
        if (below(10) === 0) await postCancel(up.address, victim).catch(() => null)
        await wait(below(60))
      }
    }
    for (let killed = 0; killed < kills; killed++) {
      const up = await startUp(options)
      const clients = [client(up), client(up), client(up)]
      await wait(below(900))
      up.kill('SIGKILL')
      await up.ended
      await Promise.all(clients)
    }
    const up = await startUp(options)
    await expect
      .poll(async () => (await getStatus(up.address))?.running?.openCommands, { timeout: 60_000, interval: 200 })
      .toBe(0)
    expect(await postFreeze(up.address)).not.toBeNull()
    await expectViewsRebuilt(up.address)
    await stop(up)
    const { events } = await storedIn(folder)
    const submitted = events.filter(({ message }) => message.type === 'WorkloadSubmitted')
    const names = submitted.map(({ message }) => message.data['workload'] as string)
    expect(new Set(names).size).toBe(names.length)
    expect(acknowledged.filter((name) => !names.includes(name))).toEqual([])
    const concluded = events
      .filter(({ message }) => message.type === 'CommandConcluded')
      .map(({ message }) => message.data['command'])
    expect(new Set(concluded).size).toBe(concluded.length)
    const ended = events
      .filter(({ message }) => message.type === 'AttemptEnded')
      .map(({ message }) => `${message.data['workload'] as string}/${message.data['attempt'] as number}`)
    expect(new Set(ended).size).toBe(ended.length)
    const deeds = expectOneEffect(folder)
    console.info(`intents: ${kills} kills, ${acknowledged.length} acknowledged, ${deeds} deeds, ${ended.length} ended`)
    expect(ended.length).toBeGreaterThan(100)
  }, 400_000)

  it('should go on while chDB is killed, and have its views as a rebuild makes them', async () => {
    const below = numbersFrom(20_261_202)
    const folder = folderFor()
    const pretended = { nodes: 4, gpusPerNode: 8, script: { ...defaultScript, seed: 6, speedUp: 2_000 } }
    const options: UpOptions = { folder, clock: 'wall', adapter: pretended, views: true }
    let sent = 0
    let killed = 0
    for (let run = 0; run < 6; run++) {
      const up = await startUp(options)
      const load = { ends: false }
      const sends = (async () => {
        while (!load.ends) {
          const answer = await postIntents(up.address, [intentOf(`job-${sent++}`, 1 + below(8), `${1 + below(20)}m`)])
          expect(answer?.[0]?.outcome).toBe('recorded')
          await postSql(up.address, 'SELECT count() FROM workloads')
          await wait(below(20))
        }
      })()
      // However busy the machine is: views of next to nothing would prove nothing.
      await expect.poll(() => sent, { timeout: 60_000 }).toBeGreaterThanOrEqual(20 * (run + 1))
      for (let i = 0; i < 5; i++) {
        await expect.poll(() => chdbChildren(up.pid), { timeout: 30_000 }).toHaveLength(1)
        await wait(below(1_200))
        for (const pid of chdbChildren(up.pid)) process.kill(pid, 'SIGKILL')
        killed += 1
      }
      load.ends = true
      await sends
      if (run === 5) {
        expect(await postFreeze(up.address)).not.toBeNull()
        await expectViewsRebuilt(up.address)
      }
      await stop(up)
    }
    const { events } = await storedIn(folder)
    console.info(`chDB: ${killed} kills, ${sent} intents, ${events.length} events`)
    expect(killed).toBeGreaterThanOrEqual(30)
    expectOneEffect(folder)
  }, 400_000)
})

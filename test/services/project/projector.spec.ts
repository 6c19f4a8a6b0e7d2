import { either as E } from 'fp-ts'
import { beforeAll, describe, expect, it } from 'vitest'
import type { EventLog, NewEvent, StoredEvent } from '../../../domain/ports/event-log.ts'
import { systemClock } from '../../../infra/host/clock.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { Projection } from '../../../projections/rows/projection.ts'
import { Projector } from '../../../services/project/project.ts'
import { FinalRows } from '../../projections/rows/final-rows.ts'
import { allEvents, contraryLog } from '../../projections/rows/told-logs.ts'
import { tell, type ProjectedLog } from '../../../services/project/projected-log.ts'
import { right } from '../../support/events.ts'
import { numbersFrom } from '../../support/fact-script.ts'
import { FailingViews, type Cut } from '../../support/failing-views.ts'

let events: ReadonlyArray<StoredEvent>
let all: string
beforeAll(async () => {
  events = await allEvents(await contraryLog(7))
  all = expected(events.length - 1)
})

const options = { lingerMs: 0, backOffMinMs: 1, backOffMaxMs: 2 }

const appendTo = async (log: EventLog, some: ReadonlyArray<StoredEvent>): Promise<void> => {
  for (const event of some) await right(log.append(event.stream, event.revision - 1, [event as NewEvent]))
}

/** What every table holds, of all events up to a position. */
const expected = (upTo: number): string => {
  const projection = new Projection()
  const held = new FinalRows()
  for (const event of events.slice(0, upTo + 1)) projection.follow(event)
  held.add(projection.take())
  return held.text
}

const cuts: ReadonlyArray<Cut> = [0, 1, 5, 'position', 'answer']

describe('writes that fail', () => {
  it.each(cuts)('after %s should be done again before anything else', async (cut) => {
    const views = new FailingViews()
    const log = memoryEventLog()
    const projector = new Projector(log, views, systemClock, options)
    for (let from = 0; from < events.length; from += 50) {
      views.cuts.push(cut, cut, cut)
      await appendTo(log, events.slice(from, from + 50))
      await projector.settled(Math.min(from + 49, events.length - 1))
    }
    await projector.stop()
    expect(views.held.text).toBe(all)
  })

  // A batch that was given up must not be passed over by the position of the next.
  it.each(cuts.flatMap((cut) => [1, 2, 3, 4, 5, 6].map((times) => [cut, times] as const)))(
    'after %s, %i times while it stops, should leave the position before what is not in',
    async (cut, times) => {
      const views = new FailingViews()
      const log = memoryEventLog()
      const half = Math.floor(events.length / 2)
      await appendTo(log, events.slice(0, half))
      const first = new Projector(log, views, systemClock, options)
      await first.settled(half - 1)
      views.cuts.push(...Array.from({ length: times }, () => cut))
      const stopped = new Promise<void>((resolve) => {
        views.cutting = () => {
          resolve(first.stop())
        }
      })
      await appendTo(log, events.slice(half, half + 40))
      await stopped
      expect(views.position).toBeLessThan(half + 40)
      views.cuts.splice(0)
      await appendTo(log, events.slice(half + 40))
      const second = new Projector(log, views, systemClock, options)
      await second.settled(events.length - 1)
      await second.stop()
      expect(views.held.text).toBe(all)
    },
  )

  it('should lose nothing, wherever they fail and whenever it stops and starts', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const below = numbersFrom(seed)
      const views = new FailingViews()
      const log = memoryEventLog()
      let projector = new Projector(log, views, systemClock, options)
      for (let from = 0; from < events.length;) {
        const next = from + 1 + below(60)
        for (let i = below(6); i > 0; i--) views.cuts.push(cuts[below(cuts.length)]!)
        await appendTo(log, events.slice(from, next))
        from = next
        if (below(3) === 0) await projector.settled(Math.min(from, events.length) - 1 - below(5))
        if (below(4) > 0) continue
        await projector.stop()
        expect(views.position).toBeLessThan(from)
        projector = new Projector(log, views, systemClock, options)
      }
      await projector.settled(events.length - 1)
      await projector.stop()
      expect(views.held.text, `seed ${seed}`).toBe(all)
    }
  })
})

it('should take each event once, and none before those before it', () => {
  const projected: ProjectedLog = { projection: new Projection(), told: -1 }
  const held = new FinalRows()
  expect(tell(projected, events.slice(0, 60))).toEqual(E.right(undefined))
  expect(tell(projected, events.slice(61))).toMatchObject({ left: { type: 'LogUnavailable', kind: 'input-output' } })
  expect(projected.told).toBe(59)
  expect(tell(projected, events.slice(30))).toEqual(E.right(undefined))
  held.add(projected.projection.take())
  expect(held.text).toBe(all)
})

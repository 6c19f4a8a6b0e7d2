import { beforeAll, expect, it } from 'vitest'
import type { Json } from '../../../domain/kernel/canonical-json.ts'
import { isInput, type CellEvent, type PolicyActivated } from '../../../domain/planner/cell-event.ts'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'
import { Projection } from '../../../projections/rows/projection.ts'
import { shareRows } from '../../../projections/fairshare/share-ledger-row.ts'
import { ToldAccounts } from '../../support/budgets/told-accounts.ts'
import { ToldCell } from '../../support/budgets/told-cell.ts'
import { FinalRows } from '../rows/final-rows.ts'
import { allEvents, contraryLog } from '../rows/told-logs.ts'
import { deviceTimeByHand } from './device-time-by-hand.ts'

type Named = Readonly<Record<string, Json>>

interface Life {
  readonly cell: string
  readonly seed: number
  readonly events: ReadonlyArray<StoredEvent>
  readonly rows: ReadonlyArray<Named>
}
const lives: Life[] = []
beforeAll(async () => {
  // Those with odd seeds share by budgets from their first event on.
  for (let seed = 1; seed < 60; seed += 2) {
    const all = await allEvents(await contraryLog(seed))
    const projection = new Projection()
    for (const event of all) projection.follow(event)
    const final = new FinalRows()
    final.add(projection.take())
    const rows = final
      .rows('share_rows')
      .map((row): Named => Object.fromEntries(shareRows.columns.map((name, i) => [name, row[i]!])))
    for (const cell of ['cell-a', 'cell-b']) {
      const events = all.filter(({ stream }) => stream === cell)
      lives.push({ cell, seed, events, rows: rows.filter((row) => row['cell'] === cell) })
    }
  }
}, 120_000)

/** The rows of the buckets that are closed, by the specification read literally. */
const closedRows = ({ cell, events }: Life): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const told = new ToldCell(cell)
  let accounts: ToldAccounts | null = null
  for (const { message } of events) {
    const event = message as unknown as CellEvent
    if (isInput(event)) told.hear(event)
    else told.follow(event)
    if (accounts !== null) accounts.follow(event)
    else if (told.policy !== null) accounts = new ToldAccounts(told)
  }
  return accounts!.oracle.closedRows
}

const keyOf = (row: Named): string => `${row['hour_ms'] as number} ${row['policy'] as string} ${row['node'] as string}`

/** The specification calls a policy by what it says; the first of all is its first version. */
const namesOf = (events: ReadonlyArray<StoredEvent>): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  for (const { message } of events) {
    if (message.type !== 'PolicyActivated') continue
    const { document, hash } = message['data'] as unknown as PolicyActivated['data']
    names.set(names.size === 0 ? 'first' : JSON.stringify(document), hash)
  }
  return names
}

const amounts = [
  ...['capacity', 'entitled', 'demand', 'owed', 'held', 'charged', 'unallocated', 'over'],
  ...['idleCharged', 'debt', 'credit'],
] as const
const column = (amount: string): string => (amount === 'idleCharged' ? 'idle_charged' : amount)

it('should be what the specification, read literally, says of every node, hour and policy', () => {
  let compared = 0
  for (const life of lives) {
    const { events, rows, seed } = life
    const names = namesOf(events)
    const closed = new Map(rows.map((row) => [keyOf(row), row]))
    const end = Math.max(...rows.map((row) => Number(row['hour_ms'])))
    for (const expected of closedRows(life)) {
      const hour = expected['hour'] as number
      if (hour > end) continue
      const key = `${hour} ${names.get(expected['version'] as string)!} ${expected['node'] as string}`
      const row = closed.get(key)
      closed.delete(key)
      if (row === undefined) {
        // Nobody held or wanted anything, and the hour before says the rest.
        expect([expected['held'], expected['demand']], `seed ${seed}: ${key}`).toEqual([0n, 0n])
        continue
      }
      const told = Object.fromEntries(amounts.map((amount) => [amount, String(expected[amount])]))
      const given = Object.fromEntries(amounts.map((amount) => [amount, row[column(amount)]]))
      if (JSON.stringify(given) !== JSON.stringify(told)) expect({ seed, key, ...given }).toEqual(told)
      compared++
    }
    expect([...closed.keys()], `seed ${seed}`).toEqual([])
  }
  expect(compared).toBeGreaterThan(2_000)
})

it('should have the raw device-time of the leases alone beside it', () => {
  let [held, differs] = [0, 0]
  for (const { cell, seed, events, rows } of lives) {
    const byHand = new Map([...deviceTimeByHand(cell, events)].filter(([, sum]) => sum > 0))
    const end = Math.max(...rows.map((row) => Number(row['hour_ms'])))
    for (const row of rows) {
      const key = keyOf(row)
      expect(row['device_milli_ms'], `seed ${seed}: ${key}`).toBe(byHand.get(key) ?? 0)
      byHand.delete(key)
      if (row['device_milli_ms'] !== 0) held++
      if (row['device_milli_ms'] !== Number(row['held'])) differs++
    }
    // What is left is of the hour that has not ended.
    for (const key of byHand.keys()) expect(Number(key.split(' ')[0]), `seed ${seed}: ${key}`).toBeGreaterThan(end)
  }
  expect(held).toBeGreaterThan(500)
  expect(differs).toBeGreaterThan(0)
})

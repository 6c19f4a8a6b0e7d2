import { beforeAll, expect, it } from 'vitest'
import type { Json } from '../../../domain/kernel/canonical-json.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { Cell } from '../../../domain/planner/cell.ts'
import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import { OpenCommands } from '../../../domain/planner/open-commands.ts'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'
import { tables } from '../../../infra/clickhouse/schema/tables.ts'
import { Projection } from '../../../projections/rows/projection.ts'
import { FinalRows } from './final-rows.ts'
import { allEvents, contraryLog } from './told-logs.ts'

const names = ['cell-a', 'cell-b']
const cuts = [0.25, 0.5, 0.75, 1]
const logs: ReadonlyArray<StoredEvent>[] = []
beforeAll(async () => {
  for (let seed = 50; seed < 80; seed++) logs.push(await allEvents(await contraryLog(seed)))
})

type Named = Readonly<Record<string, Json>>
const rowsOf = (final: FinalRows, table: string, cell: string): ReadonlyArray<Named> => {
  const { columns } = tables.find((one) => one.table === table)!
  return final
    .rows(table)
    .filter((row) => row[0] === cell)
    .map((row) => Object.fromEntries(columns.map(([name], i) => [name, row[i]!])))
}

/** Rows of some beginnings of each log, and each cell as it stood there with its open commands. */
const each = (check: (final: FinalRows, followed: OpenCommands, events: ReadonlyArray<CellEvent>) => void): void => {
  for (const log of logs)
    for (const cut of cuts) {
      // Not between an input and what was decided about it.
      let size = Math.ceil(log.length * cut)
      while (size < log.length && log[size]!.causation !== null) size++
      const events = log.slice(0, size)
      const projection = new Projection()
      for (const event of events) projection.follow(event)
      const final = new FinalRows()
      final.add(projection.take())
      for (const name of names) {
        const followed = new OpenCommands(new Cell(name))
        const own = events.filter(({ stream }) => stream === name).map(({ message }) => message as unknown as CellEvent)
        for (const event of own) followed.follow(asTold(event, followed.cell.now))
        check(final, followed, own)
      }
    }
}
/** What is told late counts from when it was told, but for a submission. */
const asTold = (event: CellEvent, now: EpochMs): CellEvent =>
  event.type === 'WorkloadSubmitted' || event.at >= now ? event : { ...event, at: now }
const sorted = (lines: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  lines.map((line) => JSON.stringify(line)).sort()

it('should have a row for every submission, and leave open what the cell knows, in its state', () => {
  let open = 0
  each((final, { cell }, events) => {
    const rows = rowsOf(final, 'workload_rows', cell.name)
    expect(rows).toHaveLength(events.filter(({ type }) => type === 'WorkloadSubmitted').length)
    const mine = rows.filter((row) => row['ended_ms'] === null)
    const stated = mine.map((row) => [
      row['workload'],
      row['state'] === 'waiting',
      row['reason'],
      row['attempts'],
      row['submitted_ms'],
    ])
    const known = Array.from(cell.workloads.values(), ({ id, run, hold, attempt, submittedAt }) => [
      ...[id, run === null, (run === null && hold?.code) || '', attempt, submittedAt],
    ])
    expect(sorted(stated)).toEqual(sorted(known))
    open += mine.length
  })
  expect(open).toBeGreaterThan(200)
})

it('should leave open the leases and attempts of what runs', () => {
  let open = 0
  each((final, { cell }) => {
    const running = [...cell.workloads.values()].flatMap(({ id, attempt, run }) =>
      run === null ? [] : [{ id, attempt, run }],
    )
    const parts = running.flatMap(({ id, attempt, run }) =>
      run.parts
        .map((part) => cell.fleet.partNamed(part))
        .map((part) => [id, attempt, part.node, part.devices, part.milli, part.memoryMib]),
    )
    const held = rowsOf(final, 'lease_rows', cell.name)
      .filter((row) => row['to_ms'] === null)
      .map((row) => [row['workload'], row['attempt'], row['node'], row['devices'], row['milli'], row['memory_mib']])
    expect(sorted(held)).toEqual(sorted(parts))
    open += held.length
    const attempts = rowsOf(final, 'attempt_rows', cell.name)
      .filter((row) => row['outcome'] === '')
      .map((row) => [row['workload'], row['attempt'], row['started_ms'], row['expected_end_ms'], row['nodes']])
    expect(sorted(attempts)).toEqual(
      sorted(running.map(({ id, attempt, run }) => [id, attempt, run.startedAt, run.expectedEndAt, run.parts.length])),
    )
  })
  expect(open).toBeGreaterThan(100)
})

it('should leave open the reasons of what is held', () => {
  let open = 0
  each((final, { cell }) => {
    const held = rowsOf(final, 'reason_rows', cell.name)
      .filter((row) => row['to_ms'] === null)
      .map((row) => [row['workload'], row['code'], row['rule'], row['behind'], row['from_ms']])
    const known = [...cell.workloads.values()].flatMap(({ id, hold }) =>
      hold === null ? [] : [[id, hold.code, hold.rule, hold.behind ?? '', hold.since]],
    )
    expect(sorted(held)).toEqual(sorted(known))
    open += held.length
  })
  expect(open).toBeGreaterThan(50)
})

it('should leave open the commands that dispatch would send, and count what was issued', () => {
  let open = 0
  each((final, followed, events) => {
    const rows = rowsOf(final, 'command_rows', followed.cell.name)
    for (const { command, deadlineAt, issuedAt, verb } of followed.open.values()) {
      // To stop an attempt stays due where it failed: it is asked again when its time is up.
      const due = verb === 'evict' || verb === 'cancel' ? ['', 'failed', 'refused'] : ['']
      const row = rows.find((one) => one['command'] === command && due.includes(one['outcome'] as string))
      expect(row, command).toMatchObject({ verb, issued_ms: issuedAt, deadline_ms: deadlineAt })
      open++
    }
    const issued = events.filter(({ type }) => type === 'CommandIssued').length
    expect(rows.filter((row) => !/\/(start|resume)$/.test(row['command'] as string)).length).toBe(issued)
    const ids = new Set([...followed.open.keys(), ...followed.cell.workloads.keys()])
    for (const row of rows)
      if (row['outcome'] === '')
        expect(ids.has(row['command'] as string) || ids.has(row['workload'] as string)).toBe(true)
  })
  expect(open).toBeGreaterThan(50)
})

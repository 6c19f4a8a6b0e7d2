import { standingNote } from '../../projections/explain/standing-text.ts'
import { gpusText, instantText } from '../../projections/explain/wording.ts'
import type { FleetAnswer, NodeRow } from '../../projections/explain/fleet.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

/** Registers `fleet`. */
export const registerFleet: Register = (program, context) => {
  addWatchFlag(
    program
      .command('fleet')
      .description('every node: its health, what is free and what runs there')
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText('after', '\nExamples:\n  leasehold fleet\n  leasehold fleet --watch 5\n  leasehold fleet -o csv')
    .action(
      verb(context, (session, flags: { at?: string; watch?: WatchFlag }) => {
        const at = instantFrom(flags.at)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, { at }, async (desk) => {
            await printFleet(drawn, await fromDesk(desk.fleet(at)))
            return exitCodes.done
          }),
        )
      }),
    )
}

type Row = NodeRow & JsonObject

const printFleet = async (session: Session, fleet: FleetAnswer): Promise<void> => {
  const { format } = session.style
  if (format === 'json' || format === 'yaml') return session.printObject(fleet as unknown as JsonObject)
  const rows = fleet.nodes as ReadonlyArray<Row>
  if (format === 'csv') return session.printRows<Row>(rows, plainColumns)
  await session.printRows<Row>(rows, columns)
  await session.write(`\n${summary(fleet)}`)
  const note = standingNote(fleet.standing)
  if (note !== null) session.note(note)
}

const summary = ({ at, total }: FleetAnswer): string => {
  const { allocatedMilli, freeMilli, installedMilli, largestWholeMilli, nodes, schedulableMilli } = total
  const { onHold, running, waiting } = total
  return (
    `${instantText(at)}: ${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${gpusText(installedMilli)} installed, ` +
    `${gpusText(schedulableMilli)} schedulable, ${gpusText(allocatedMilli)} allocated,\n` +
    `${gpusText(freeMilli)} free (${gpusText(largestWholeMilli)} in one node); ${running} running, ${waiting} waiting` +
    `${onHold === 0 ? '' : `, ${onHold} on hold`}.\n`
  )
}

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'node', value: ({ node }) => node, whole: true },
  {
    name: 'health',
    value: ({ health, unready }) => (unready.length === 0 ? health : `${health}, ${unready.length} not`),
    whole: true,
    paint: ({ health, unready }) =>
      health === 'failed' ? 'bad' : health === 'ready' && unready.length === 0 ? 'good' : 'warn',
  },
  { name: 'model', value: ({ model }) => model },
  { name: 'gpus', value: ({ devices }) => devices },
  { name: 'free', value: ({ freeMilli }) => freeMilli / 1000 },
  { name: 'whole', value: ({ freeWhole }) => freeWhole },
  { name: 'runs', value: ({ running }) => running },
  {
    name: 'workloads',
    value: ({ running, workloads }) =>
      workloads.length === 0 ? null : workloads.join(', ') + (running > workloads.length ? ', ...' : ''),
  },
]

/** For a spreadsheet: numbers that can be counted with. */
const plainColumns: ReadonlyArray<Column<Row>> = [
  'node',
  'health',
  'model',
  'domain',
  'devices',
  'freeWhole',
  'freeMilli',
  'allocatedMilli',
  'freeMemoryMib',
  'freeCpuMilli',
  'freeHostMemoryMib',
  'running',
].map((name) => ({ name, value: (row) => row[name] ?? null }))

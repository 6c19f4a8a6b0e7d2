import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { countNodes, countTrace } from '../../domain/simulation/trace-counts.ts'
import { readNodeList } from '../../infra/traces/node-list.ts'
import { exitCodes } from './exit.ts'
import { figureColumns, figures, figuresToRead } from './figures.ts'
import type { JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { addTraceFlags, fileFailed, numberBetween, refuseFlags, traceFrom, type TraceFlags } from './trace-options.ts'

interface ImportFlags extends TraceFlags {
  readonly nodeList?: string
  readonly windowFrom?: string
  readonly capacities?: string
}

/** Registers `import`. */
export const registerImport: Register = (program, context) => {
  addTraceFlags(program.command('import').argument('<file>', 'a trace of jobs'))
    .description('read a trace and print what it asks for: counts, sums, peaks (docs/import.md)')
    .option('--node-list <file>', 'also count the nodes of a list')
    .option('--window-from <seconds>', 'where the window of demand begins (default: after the sparse first days)')
    .option('--capacities <list>', 'numbers of GPUs to compare the demand in the window with, such as 32,40,48')
    .action(
      verb(context, async (session, file: string, flags: ImportFlags) => {
        const faults: Fault[] = []
        const from = numberBetween('--window-from', flags.windowFrom, 0, 2 ** 40, faults)
        const capacities = flags.capacities
          ?.split(',')
          .map((each) => numberBetween('--capacities', each, 1, 1_000_000, faults)!)
        const { jobs, recorded } = await traceFrom(file, flags, faults)
        refuseFlags(faults)
        const counts = countTrace(jobs, {
          recorded,
          ...(from !== undefined && { windowFromMs: from * 1000 }),
          ...(capacities !== undefined && { capacities }),
        })
        const nodes = flags.nodeList === undefined ? {} : { nodes: await countedNodes(flags.nodeList) }
        await printCounts(session, { ...(counts as unknown as JsonObject), ...nodes })
        return exitCodes.done
      }),
    )
}

const printCounts = (session: Session, counts: JsonObject): Promise<void> => {
  const { format } = session.style
  if (format === 'json' || format === 'yaml') return session.printObject(counts)
  if (format === 'csv') return session.printRows(figures(counts), figureColumns)
  // As the trace writes them is for who compares with its source; nearly all of it repeats `byModels`.
  return session.printRows(figuresToRead({ ...counts, byModelsWritten: null }), figureColumns)
}

const countedNodes = async (file: string): Promise<JsonObject> => {
  const read = await readNodeList(file)
  if (E.isLeft(read)) throw fileFailed(read.left)
  return countNodes(read.right) as unknown as JsonObject
}

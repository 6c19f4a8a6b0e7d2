import type { Register } from './program.ts'
import { registerLogExport } from './log-export.ts'

/** `log WORKLOAD` and, beneath it, what else is done with the log as a whole. */
export const registerLog: Register = (program, context) => {
  const log = program.command('log').description('the log: what has happened')
  registerLogExport(log, context)
}

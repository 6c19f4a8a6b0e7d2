import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { openLog, type OpenOptions } from '../../infra/host/open-log.ts'
import { logUnavailable } from './exit.ts'
import type { Session } from './session.ts'

/** What a log gave, or the failure of the verb that asked for it. */
export const fromLog = <A>(read: E.Either<LogUnavailable, A>): A => {
  if (E.isLeft(read)) throw logUnavailable(read.left)
  return read.right
}

/** Lends the log of the data folder, to read unless asked otherwise, and closes it whatever happens. */
export const withLog = async <A>(
  { configuration }: Session,
  use: (log: AuditedLog) => Promise<A>,
  options: OpenOptions = { readOnly: true },
): Promise<A> => {
  const { log } = fromLog(await openLog(configuration.data, options)())
  try {
    return await use(log)
  } finally {
    await log.close()
  }
}

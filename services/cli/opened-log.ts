import { either as E } from 'fp-ts'
import { deadLetterPrefix, type EventLog, type LogUnavailable } from '../../domain/ports/event-log.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { claimFolder } from '../../infra/host/folder-owner.ts'
import { openLog, type LogPlace, type OpenOptions } from '../../infra/host/open-log.ts'
import { environmentName } from '../../infra/host/configuration.ts'
import { exitCodes, logUnavailable, VerbFailed } from './exit.ts'
import { logPlace } from './log-place.ts'
import { version } from './version.ts'
import type { Session } from './session.ts'

/** What a log gave, or the failure of the verb that asked for it. */
export const fromLog = <A>(read: E.Either<LogUnavailable, A>): A => {
  if (E.isLeft(read)) throw logUnavailable(read.left)
  return read.right
}

/** Lends the log to be read, beside whoever owns it, and closes it whatever happens. */
export const withLog = <A>({ configuration }: Session, use: (log: AuditedLog) => Promise<A>): Promise<A> =>
  withOpened(logPlace(configuration), { readOnly: true }, use)

/** The same of the data folder, to be written, whatever keeps the log of the system itself. */
export const withClaimedLog = <A>(session: Session, what: string, use: (log: AuditedLog) => Promise<A>): Promise<A> =>
  withClaimedFolder(session, what, () => withOpened(session.configuration.data, {}, use))

/** The data folder is this verb's for that time. */
export const withClaimedFolder = async <A>(
  { configuration }: Session,
  what: string,
  use: () => Promise<A>,
): Promise<A> => {
  const as = { address: null, since: systemClock.now(), version: version(), what }
  const claim = fromLog(claimFolder(configuration.data, as))
  try {
    return await use()
  } finally {
    claim.release()
  }
}

const withOpened = async <A>(
  place: LogPlace,
  options: OpenOptions,
  use: (log: AuditedLog) => Promise<A>,
): Promise<A> => {
  const { log } = fromLog(await openLog(place, options)())
  try {
    return await use(log)
  } finally {
    await log.close()
  }
}

const cellsShownMax = 10

/** Events of the session's cell. That the log knows no such cell is told, and not taken for one where nothing happened. */
export const sizeOfCell = async ({ configuration }: Session, log: EventLog): Promise<number> => {
  const heads = fromLog(await log.heads()())
  const size = heads.find(({ stream }) => stream === configuration.cell)?.size
  if (size !== undefined) return size
  const cells = heads.map(({ stream }) => stream).filter((stream) => !stream.startsWith(deadLetterPrefix))
  const mend =
    cells.length === 0
      ? 'it is empty'
      : `set ${environmentName('cell')} to one that it holds: ${cells.slice(0, cellsShownMax).join(', ')}`
  throw new VerbFailed(exitCodes.failed, `the log holds no cell ${configuration.cell}; ${mend}`)
}

import { parseLogHead } from '../../infra/chain/verify.ts'
import { auditLog } from '../../infra/host/open-log.ts'
import type { Finding } from '../../infra/chain/audited-log.ts'
import { headOf, type LogHead } from '../../infra/chain/chain-head.ts'
import { digestOf } from '../../infra/chain/log-digest.ts'
import { counted } from './counted.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { logPlace } from './log-place.ts'
import { fromLog, withLog } from './opened-log.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'

/** Registers `audit head`, `audit digest` and `audit verify`. */
export const registerAudit: Register = (program, context) => {
  const audit = program.command('audit').description('prove that the log is what it was')
  audit
    .command('head')
    .description('print the size of the log and the hash of its chains: SIZE:HASH')
    .action(
      verb(context, (session) =>
        withLog(session, async (log) => {
          const { size, hash } = fromLog(await headOf(log)())
          if (session.style.format === 'table') await session.write(`${size}:${hash}\n`)
          else await session.printObject({ size, hash, head: `${size}:${hash}` })
          return exitCodes.done
        }),
      ),
    )
  audit
    .command('digest')
    .description('print the hash of what was seen and decided, without ids and record times')
    .addHelpText(
      'after',
      '\nTwo logs that saw and decided the same have the same digest: docs/log.md says how it is made.',
    )
    .action(
      verb(context, (session) =>
        withLog(session, async (log) => {
          const digest = fromLog(await digestOf(log)())
          if (session.style.format === 'table') await session.write(`${digest}\n`)
          else await session.printObject({ digest })
          return exitCodes.done
        }),
      ),
    )
  audit
    .command('verify')
    .description('read every event as readers do and check its hash, its place and its chain')
    .option('--head <size:hash>', 'what `audit head` printed earlier: also finds a tail cut off and a log written anew')
    .addHelpText(
      'after',
      `\nExit code ${exitCodes.unverified} with what was found and where, ${exitCodes.done} without.`,
    )
    .action(verb(context, (session, { head }: { head?: string }) => auditVerify(session, headFrom(head))))
}

const headFrom = (text: string | undefined): LogHead | null => {
  if (text === undefined) return null
  const head = parseLogHead(text)
  if (head !== null) return head
  const mend = 'give what `audit head` printed: a number of events, a colon and 64 hexadecimal digits'
  throw new VerbFailed(exitCodes.usage, 'the head to compare with is not valid', [
    { path: '--head', reason: `${JSON.stringify(text.slice(0, 100))} is not SIZE:HASH`, mend },
  ])
}

const auditVerify = async (session: Session, head: LogHead | null) => {
  const { ok, events, head: found, findings } = fromLog(await auditLog(logPlace(session.configuration), head)())
  // What cannot be opened has been read up to the damage only, and has no head.
  const printed = found.hash === '' ? null : `${found.size}:${found.hash}`
  if (session.style.format === 'table') {
    if (ok) await session.write(`ok: ${counted(events, 'event')}, head ${printed}\n`)
    else await session.printRows<FindingRow>(findings.map(rowOf), findingColumns)
  } else if (session.style.format === 'csv') await session.printRows<FindingRow>(findings.map(rowOf), findingColumns)
  else await session.printObject({ ok, events, head: printed, findings: findings.map(rowOf) })
  if (ok && head === null) session.note('Without --head, an end that was cut off or a log written anew is not seen.')
  if (!ok) {
    const where =
      printed === null ? `after ${counted(events, 'event')}; the rest was not read` : `in ${counted(events, 'event')}`
    session.note(`the log is not what it was: ${findings.length} found ${where}`)
  }
  return ok ? exitCodes.done : exitCodes.unverified
}

type FindingRow = JsonObject & {
  readonly position: number | null
  readonly stream: string | null
  readonly revision: number | null
  readonly reason: string
}
const rowOf = ({ position, stream, revision, reason }: Finding): FindingRow => ({ position, stream, revision, reason })
const findingColumns: ReadonlyArray<Column<FindingRow>> = [
  { name: 'position', value: ({ position }) => position },
  { name: 'stream', value: ({ stream }) => stream },
  { name: 'revision', value: ({ revision }) => revision },
  { name: 'reason', value: ({ reason }) => reason, whole: true, paint: () => 'bad' },
]

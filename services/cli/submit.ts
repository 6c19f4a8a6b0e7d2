import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { reasonText } from '../../projections/explain/reason-text.ts'
import { durationText, instantText } from '../../projections/explain/wording.ts'
import { readIntentsFile } from '../../infra/yaml/intents.ts'
import type { Desk, Submitted, WorkloadState } from '../api/desk.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes, type ExitCode } from './exit.ts'
import { orderer } from './orderer.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { untilSignal } from './signals.ts'
import { fileFailed, numberBetween, refuseFlags } from './trace-options.ts'

interface SubmitFlags {
  readonly wait?: string | true
}

const waitMaxS = 31_536_000
const askEveryMs = 500

/** Registers `submit`. */
export const registerSubmit: Register = (program, context) => {
  program
    .command('submit')
    .argument('<file>', 'WorkloadIntent documents, YAML or JSON; - for the standard input')
    .description('submit workloads; prints where each stands now, its id and its position in the log')
    .option('--wait [seconds]', 'follow them until they end, or for so long')
    .addHelpText('after', examples)
    .action(
      verb(context, async (session, file: string, { wait }: SubmitFlags) => {
        const faults: Fault[] = []
        const seconds = numberBetween('--wait', wait === true ? undefined : wait, 0.1, waitMaxS, faults, false)
        refuseFlags(faults)
        const read = await readIntentsFile(file)()
        if (E.isLeft(read)) throw fileFailed(read.left)
        const { submitted, unknown } = await withDesk(session, { claims: 'submit' }, async (desk) => {
          const taken = await fromDesk(desk.submit(read.right, orderer()))
          return { submitted: taken, unknown: await unknownTo(desk, taken) }
        })
        await printSubmitted(session, submitted)
        for (const text of unknown) session.note(text)
        if (wait === undefined)
          return submitted.some(({ state }) => state === 'refused') ? exitCodes.refused : exitCodes.done
        return follow(session, submitted, (seconds ?? waitMaxS) * 1000)
      }),
    )
}

/** Of many that name what the policy does not have, so many are told what that is. */
const unknownMax = 20

/** What each of them names that the policy does not have, and what was probably meant. */
const unknownTo = async (desk: Desk, submitted: ReadonlyArray<Submitted>): Promise<ReadonlyArray<string>> => {
  const misconfigured = submitted.filter(({ code, state }) => state === 'waiting' && code === 'Misconfigured')
  const texts: string[] = []
  for (const { workload } of misconfigured.slice(0, unknownMax)) {
    const why = await desk.why(workload, null)()
    // It may have been mended, or cancelled, since.
    if (E.isRight(why) && why.right.state === 'waiting' && why.right.code === 'Misconfigured')
      texts.push(`${workload} is Misconfigured: ${reasonText(why.right)}`)
  }
  const more = misconfigured.length - unknownMax
  return more > 0 ? [...texts, `... and ${more} more: \`leasehold why WORKLOAD\` says of each.`] : texts
}

type SubmittedRow = Submitted & JsonObject
const columns: ReadonlyArray<Column<SubmittedRow>> = [
  { name: 'workload', value: ({ workload }) => workload, whole: true },
  { name: 'state', value: ({ state }) => state },
  { name: 'code', value: ({ code }) => code },
  { name: 'id', value: ({ id }) => id },
  { name: 'outcome', value: ({ outcome }) => outcome },
  { name: 'position', value: ({ position }) => position },
]

const printSubmitted = async (session: Session, submitted: ReadonlyArray<Submitted>): Promise<void> => {
  if (session.style.format !== 'table')
    return session.printRows<SubmittedRow>(submitted as ReadonlyArray<SubmittedRow>, columns)
  for (const one of submitted) await session.say(submittedText(one))
  if (submitted.length === 1) session.note(`Where it stands: leasehold why ${submitted[0]!.workload}`)
}

/** `finetune: waits (WaitingForCapacity), id submit/finetune, position 12 of the log` */
const submittedText = ({ code, id, outcome, position, state, text, workload }: Submitted): string => {
  const place = position === null ? '' : `, position ${position} of the log`
  const before = outcome === 'duplicate' ? ' (that was recorded before)' : ''
  return `${workload}: ${standing(state, code, text, outcome)}${before}, id ${id}${place}`
}

const standing = (
  state: WorkloadState['state'],
  code: string | null,
  text: string,
  outcome: Submitted['outcome'],
): string => {
  if (state === 'refused') return `refused, ${text.slice(Math.max(0, text.indexOf(code ?? '')))}`
  if (state === 'waiting') return `waits (${code})`
  // One that runs says so itself, or that it only would.
  if (state === 'running') return text
  return state === 'starting' && outcome === 'recorded' ? 'starts at once' : state
}

const ended: { readonly [S in WorkloadState['state']]?: ExitCode } = {
  succeeded: exitCodes.done,
  failed: exitCodes.failed,
  'not-started': exitCodes.failed,
  refused: exitCodes.refused,
  cancelled: exitCodes.refused,
}

/** Prints each change, and returns what the worst end of them makes of the exit code. */
const follow = async (session: Session, submitted: ReadonlyArray<Submitted>, waitMs: number): Promise<ExitCode> => {
  const until = performance.now() + waitMs
  const interrupted = untilSignal(['SIGINT', 'SIGTERM'])
  const last = new Map<string, string>()
  try {
    for (;;) {
      const states = await withDesk(session, {}, async (desk) => {
        const found: WorkloadState[] = []
        for (const { workload } of submitted) found.push(await fromDesk(desk.state(workload)))
        return found
      })
      for (const state of states) {
        const key = `${state.state} ${state.attempt} ${state.text}`
        if (last.get(state.workload) === key) continue
        last.set(state.workload, key)
        if (session.style.format === 'table') await session.say(stateText(state))
        else await session.write(`${JSON.stringify(state)}\n`)
      }
      const codes = states.map(({ state }) => ended[state])
      if (!codes.includes(undefined)) return (codes as ExitCode[]).reduce(worse, exitCodes.done)
      const leftMs = until - performance.now()
      if (leftMs <= 0) {
        const open = states.filter(({ state }) => ended[state] === undefined).map(({ workload }) => workload)
        const what = open.length === 1 ? `${open[0]!} has` : `${open.length} workloads have`
        session.note(
          `${what} not ended after ${durationText(waitMs)}: \`leasehold why ${open[0]!}\` says where it stands.`,
        )
        return exitCodes.refused
      }
      if ((await interrupted.within(Math.min(askEveryMs, leftMs))) !== null) return exitCodes.interrupted
    }
  } finally {
    interrupted.forget()
  }
}

/** One that failed says more than one that was not run. */
const worse = (a: ExitCode, b: ExitCode): ExitCode =>
  a === exitCodes.failed || b === exitCodes.failed
    ? exitCodes.failed
    : Math.max(a, b) === 0
      ? exitCodes.done
      : exitCodes.refused

const stateText = ({ since, state, text, workload }: WorkloadState): string =>
  `${instantText(since)}  ${workload} ${state}: ${text}`

const examples = `
Exit code ${exitCodes.refused} when one is refused. With --wait: ${exitCodes.done} when all succeeded, ${exitCodes.failed} when one failed,
${exitCodes.refused} when one was refused or cancelled, or the time was up. Anything but a table is then
followed by one JSON object on a line for each change.

Examples:
  leasehold submit docs/examples/intent.yaml
  leasehold submit docs/examples/intent.yaml --wait 600
  sed s/sweep-7/sweep-8/ sweep.yaml | leasehold submit -`

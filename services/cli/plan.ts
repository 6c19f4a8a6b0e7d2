import { either as E } from 'fp-ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { dryRun, type DryRun } from '../../domain/planner/dry-run.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import { termsOf } from '../../domain/workload/terms.ts'
import { readIntentsFile } from '../../infra/yaml/intents.ts'
import { durationText, gpusText, instantText, leaseText, needText } from '../../projections/explain/wording.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { foldedCell } from './folded-cell.ts'
import { withLog } from './opened-log.ts'
import { terminalSafe, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { fileFailed } from './trace-options.ts'

/** Registers `plan`. */
export const registerPlan: Register = (program, context) => {
  program
    .command('plan')
    .argument('<file>', 'WorkloadIntent documents, YAML or JSON; - for the standard input')
    .description('where and when a workload would run if it were submitted now; nothing is changed')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .addHelpText('after', `\nExit code ${exitCodes.refused} if the fleet could never run one of them.`)
    .action(
      verb(context, async (session, file: string, { at }: { at?: string }) => {
        const read = await readIntentsFile(file)()
        if (E.isLeft(read)) throw fileFailed(read.left)
        return withLog(session, async (log) => {
          const { cell } = await foldedCell(session, log, at)
          if (cell.fleet.nodes.length === 0) throw new VerbFailed(exitCodes.failed, 'the log knows no fleet')
          const plans = read.right.map((intent) => {
            const plan = planOf(cell, intent)
            return { intent, plan, notes: notesOn(intent, plan) }
          })
          if (plans.length > 1) session.note('Each is planned as if the others were not there.')
          if (session.style.format === 'table')
            for (const { intent, plan, notes } of plans) await session.write(planText(cell, intent, plan, notes))
          else
            await session.printRows<JsonObject>(
              plans.map(({ intent, plan, notes }) => ({
                workload: intent.name,
                ...(plan as unknown as JsonObject),
                notes,
              })),
              ['workload', 'outcome', 'startAt'].map((name) => ({ name, value: (row) => row[name] ?? null })),
            )
          return plans.some(({ plan }) => plan.outcome === 'refused' || plan.outcome === 'not taken')
            ? exitCodes.refused
            : exitCodes.done
        })
      }),
    )
}

const planOf = (cell: Cell, intent: WorkloadIntent): DryRun =>
  dryRun(cell, {
    class: intent.class,
    estimateMs: intent.expectedDurationMs,
    queue: intent.queue,
    request: intent.request,
    team: intent.team,
    terms: termsOf(intent),
    workload: intent.name,
  })

/** What an intent states that this release does not decide by, and a deadline that the plan does not meet. */
const notesOn = (intent: WorkloadIntent, plan: DryRun): ReadonlyArray<string> => {
  const { budget, deadline, elasticity, expectedDurationMs, modelFamily, preemption, substitutable } = intent
  const idle = [
    ...(budget === null ? [] : ['budget']),
    ...(modelFamily === null ? [] : ['modelFamily']),
    ...(substitutable.length === 0 ? [] : ['substitutable']),
    ...(elasticity === null ? [] : ['elasticity']),
    ...(preemption.tolerated ? ['preemption'] : []),
  ]
  const notes = idle.length === 0 ? [] : [`recorded, and not decided by yet: ${idle.join(', ')}`]
  const startAt = 'startAt' in plan ? plan.startAt : null
  const endAt = startAt === null ? null : startAt + (expectedDurationMs ?? 0)
  if (deadline !== null && endAt !== null && endAt > deadline)
    notes.push(`too late for its deadline ${instantText(deadline)}, by ${durationText(endAt - deadline)}`)
  return notes
}

const planText = (cell: Cell, intent: WorkloadIntent, plan: DryRun, notes: ReadonlyArray<string>): string => {
  const lines = [...planLines(cell, intent, plan), ...notes.map((note) => `  ${note}`)]
  return lines.map((line) => `${terminalSafe(line)}\n`).join('')
}

const planLines = (cell: Cell, { name, queue, request }: WorkloadIntent, plan: DryRun): ReadonlyArray<string> => {
  switch (plan.outcome) {
    case 'starts': {
      const { lease, expectedEndAt } = plan.decision.data
      const ends = expectedEndAt === null ? '' : ` It would end ${instantText(expectedEndAt)}.`
      return [`${name} would start at once.${ends}`, ...lease.map((part) => `  ${leaseText(part)}`)]
    }
    case 'waits': {
      const { decision, position, startAt } = plan
      const why = decision === null ? 'nothing decides about its queue' : decision.data.code
      const needs =
        decision === null ? '' : `; it needs ${needText(request)}, ${gpusText(decision.data.freeMilli)} free in total`
      const start = startAt === null ? 'not known' : `${instantText(startAt)} (in ${durationText(startAt - cell.now)})`
      return [
        `${name} would wait in queue ${queue}, position ${position}: ${why}${needs}.`,
        `  projected start: ${start}`,
      ]
    }
    case 'refused': {
      const { code, needMilli, largestMilli } = plan.decision.data
      const has =
        needMilli === 0
          ? 'no place of the empty fleet has all of it'
          : `the empty fleet has ${gpusText(largestMilli)} in one place of its span`
      return [`${name} would be refused: ${code}.`, `  it needs ${needText(request)}; ${has}`]
    }
    case 'not taken':
      return [`${name} would not be taken: ${plan.rejection.type}.`]
  }
}

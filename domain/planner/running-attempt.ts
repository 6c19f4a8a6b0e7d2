import { either as E } from 'fp-ts'
import type { Cell } from './cell.ts'
import type { AttemptEnded } from './cell-event.ts'
import type { CellRejection } from './decide.ts'
import type { Run, Workload } from './workload.ts'

type Running = Workload & { run: Run }

/** The workload whose attempt of that number runs; or what is wrong with what was said of it. */
export const runningAttempt = (
  { attempt, workload: id }: Pick<AttemptEnded['data'], 'attempt' | 'workload'>,
  { workloads }: Cell,
): E.Either<CellRejection, Running> => {
  const workload = workloads.get(id)
  if (workload === undefined) return E.left({ type: 'UnknownWorkload', workload: id })
  if (workload.run === null) return E.left({ type: 'NotRunning', workload: id })
  if (workload.attempt !== attempt)
    return E.left({ type: 'WrongAttempt', workload: id, attempt, running: workload.attempt })
  return E.right(workload as Running)
}

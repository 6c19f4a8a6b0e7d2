import { either as E } from 'fp-ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import type { CellRejection } from '../../domain/planner/decide.ts'
import type { AppendFault } from '../../domain/ports/event-log.ts'
import type { Run } from '../../domain/simulation/run.ts'
import type { CellRecorder, HistoryDiffers } from './cell-recorder.ts'

/** A run handed the cell an input that it does not take: the trace is not what its reader took it for. */
export interface RunRejected {
  readonly type: 'RunRejected'
  readonly input: CellInput
  readonly rejection: CellRejection
}

export type RunFault = AppendFault | HistoryDiffers | RunRejected

/** Lets a run go through the recorder to its end; all of it is durable when this resolves with nothing. */
export const runThrough = async (
  recorder: CellRecorder,
  run: Run,
  seen: (input: CellInput, decisions: ReadonlyArray<CellDecision>) => void,
): Promise<E.Either<RunFault, void>> => {
  let ticks = 0
  for (let step = run.next([]); step.done !== true;) {
    const input = step.value
    const decided = recorder.take(input, inputId(input, ticks))
    if (E.isLeft(decided)) return E.left({ type: 'RunRejected', input, rejection: decided.left })
    if (input.type === 'Ticked') ticks++
    seen(input, decided.right)
    if (recorder.isFull) {
      const flushed = await recorder.flush()
      if (E.isLeft(flushed)) return flushed
    }
    step = run.next(decided.right)
  }
  return recorder.finish()
}

/** Names an input after what it says, so that the same run names it the same. */
const inputId = (input: CellInput, ticks: number): string => {
  switch (input.type) {
    case 'NodeRegistered':
      return `node/${input.data.node}`
    case 'NodeHealthChanged':
      return `health/${input.data.node}/${input.data.device ?? 'all'}/${input.at}`
    case 'PolicyActivated':
      return `policy/${input.data.hash}`
    case 'WorkloadSubmitted':
      return `submit/${input.data.workload}`
    case 'AttemptEnded':
      return `end/${input.data.workload}/${input.data.attempt}`
    case 'CancelRequested':
      return `cancel/${input.data.workload}`
    case 'CommandConcluded':
      return `${input.data.command}/${input.data.outcome}`
    case 'HoldRequested':
    case 'ReleaseRequested':
      return `${input.type === 'HoldRequested' ? 'hold' : 'release'}/${input.data.workload}/${input.at}`
    case 'CheckpointCommitted':
    case 'ProgressObserved': {
      const { attempt, workload } = input.data
      return `${input.type === 'ProgressObserved' ? 'progress' : 'checkpoint'}/${workload}/${attempt}/${input.at}`
    }
    case 'DrillConcluded':
      return `drill/${input.data.team}/${input.data.modelFamily ?? 'any'}/${input.at}`
    case 'Ticked':
      return `tick/${ticks}`
  }
}

import type { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import type { Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import type { Answered, Desk, RebuiltTable, SystemStatus } from './desk.ts'
import type { Intake } from './intake.ts'

/** A cell as it stood at an instant (null: at the end of the log), and how many events of its stream that took. */
export type FoldCell = (
  until: EpochMs | null,
) => Promise<E.Either<LogUnavailable, { readonly cell: Cell; readonly size: number }>>

/** What a desk is put together from. The functions are asked anew at every question: what they tell of may come and go. */
export interface DeskParts {
  readonly version: string
  /** The cell's stream. */
  readonly cell: string
  readonly log: EventLog
  /** Gives a cell of its own at each call: the desk keeps one and changes it. */
  readonly fold: FoldCell
  /** Left: nothing can be ordered here, and why. */
  readonly intake: E.Either<LogUnavailable, Intake>
  readonly views: () => E.Either<ViewsUnavailable, Views>
  readonly rebuild: () => Answered<ReadonlyArray<RebuiltTable>>
  readonly running: () => SystemStatus['running']
  /** What is known of the views without asking them for more than how far they are; null: there are none. */
  readonly viewsStatus: () => Promise<SystemStatus['views']>
  readonly degraded: () => SystemStatus['degraded']
}

/** A desk that follows its log. */
export interface LocalDesk extends Desk {
  /** Ends the following; the log stays open. */
  readonly close: () => Promise<void>
}

/** Folds the cell, and follows the log from there on. */
export declare const openDesk: (parts: DeskParts) => Promise<E.Either<LogUnavailable, LocalDesk>>

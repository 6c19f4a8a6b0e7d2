import type { either as E } from 'fp-ts'
import type { LentViews } from '../../infra/clickhouse/views.ts'
import type { LogPlace } from '../../infra/host/open-log.ts'
import type { Standing } from './project.ts'
import type { ProjectFault } from './projected-log.ts'
import type { RebuiltTable } from '../../domain/ports/views.ts'

/** What the thread begins with. */
export interface ThreadData {
  readonly logPlace: LogPlace
  readonly described: LentViews['described']
}

/** From the thread. What carries `ask` is answered under that number. */
export type FromThread =
  | { readonly type: 'stands'; readonly standing: Standing }
  | { readonly type: 'built'; readonly built: E.Either<ProjectFault, ReadonlyArray<RebuiltTable>> }
  | { readonly type: 'answered' }
  | { readonly type: 'address'; readonly ask: number }
  | { readonly type: 'failed'; readonly ask: number; readonly pid: number }

export type ToThread =
  | { readonly type: 'answer'; readonly ask: number; readonly answer: unknown }
  | { readonly type: 'rebuild' }
  | { readonly type: 'stop' }

import { either as E } from 'fp-ts'
import type { CellFact } from '../../../domain/planner/cell-event.codec.ts'
import { systemClock } from '../../../infra/host/clock.ts'
import type { Adapter } from '../sdk/adapter.ts'
import { startAdapter, type AdapterFault, type AdapterOptions } from '../sdk/start-adapter.ts'
import { JobWatch } from './job-watch.ts'
import { Jobs, type JobsOptions } from './jobs.ts'

export type ReferenceOptions = Omit<AdapterOptions, 'handlers'> &
  JobsOptions & {
    /** Told, in a line, what happens to jobs. */
    readonly note: (line: string) => void
  }

export interface ReferenceAdapter {
  readonly adapter: Adapter
  /** Jobs go on without it, and are found again. */
  readonly stop: () => Promise<void>
}

/** Registers its nodes, takes commands, and runs what it is told to as processes of this machine. */
export const startReference = async (options: ReferenceOptions): Promise<E.Either<AdapterFault, ReferenceAdapter>> => {
  const { name, nodes, note } = options
  const jobs = new Jobs(options)
  const started = await startAdapter({ ...options, handlers: jobs })
  if (E.isLeft(started)) return started
  const adapter = started.right
  await adapter.tell(
    nodes.map((data): CellFact => ({
      id: `${name}/node/${data.node}/${data.devices}`,
      type: 'NodeRegistered',
      at: systemClock.now(),
      data,
    })),
  )
  const watch = new JobWatch(jobs, adapter, note)
  return E.right({
    adapter,
    stop: async () => {
      await watch.stop()
      await adapter.stop()
      jobs.close()
    },
  })
}

import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { NewEvent } from '../../domain/ports/event-log.ts'
import { openLog } from '../../infra/host/open-log.ts'

const event = (id: string, type: string, data: { readonly [key: string]: Json }): NewEvent => ({
  id,
  message: { type, at: 0 as EpochMs, data },
  version: 1,
  source: 'sample',
  actor: 'test',
  recordTime: 0 as EpochMs,
  causation: null,
  correlation: null,
  policy: null,
})

/** A log for tests of what reads one: every second event is an input, the others follow from them. */
export const writeSampleLog = async (folder: string, events = 10): Promise<void> => {
  const opened = await openLog(folder)()
  if (E.isLeft(opened)) throw new Error(opened.left.reason)
  const { log } = opened.right
  const sample = Array.from({ length: events }, (_, i) =>
    i % 2 === 0
      ? event(`tick-${i}`, 'Ticked', {})
      : event(`overrun-${i}`, 'EstimateOverran', { attempt: 1, expectedEndAt: i, workload: `sweep-${i}` }),
  )
  const appended = await log.append('cell-default', -1, sample)()
  await log.close()
  if (E.isLeft(appended)) throw new Error(appended.left.type)
}

import type { Shape } from '../fleet/shape.ts'
import type { Block } from './block.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import type { Workload } from './workload.ts'

/** The request as its queue's quota lets it start, on one accelerator class at a time, in the queue's order. */
export const shapesWithin = (
  cell: Cell,
  { quota, units }: Books,
  { queue, shape }: Workload,
): ReadonlyArray<Shape> | Block => {
  if (!quota.limits(queue.name)) return [shape]
  const verdicts = quota.verdicts(queue.name, shape)
  const fitting = verdicts.filter(({ fits }) => fits)
  if (fitting.length > 0) return fitting.map(({ accelerator }) => onlyOn(cell, units, shape, accelerator))
  const hopeful = verdicts.find(({ possible }) => possible) ?? verdicts[0]
  return {
    code: hopeful?.possible === true ? 'WaitingForQuota' : 'ExceedsMaxQuota',
    rule: `spec.queues[${queue.index}].quotas`,
    compared: { asked: hopeful?.asked ?? shape.needMilli, available: hopeful?.available ?? 0 },
  }
}

/** The request on each class that the queue could ever let it start on, whether or not it may now. */
export const shapesBeyond = (cell: Cell, { quota, units }: Books, { queue, shape }: Workload): ReadonlyArray<Shape> =>
  quota.limits(queue.name)
    ? quota
        .verdicts(queue.name, shape)
        .filter(({ possible }) => possible)
        .map(({ accelerator }) => onlyOn(cell, units, shape, accelerator))
    : [shape]

/** The same on models of that class alone; as it is where no node has any. */
const onlyOn = ({ fleet, shapes }: Cell, units: Books['units'], shape: Shape, accelerator: string): Shape => {
  const { models } = shape.request
  const own: string[] = []
  for (const model of fleet.models)
    if (model !== null && units.accelerator(model) === accelerator && (models?.includes(model) ?? true)) own.push(model)
  return own.length === 0 ? shape : shapes.intern({ ...shape.request, models: own.sort() })
}

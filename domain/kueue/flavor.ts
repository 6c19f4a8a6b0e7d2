import { maySelect, type Labels, type LabelSelection } from '../fleet/label-selection.ts'
import { repels, type Taint, type Toleration } from '../fleet/taint.ts'

/** A kind of hardware that quota is given for, and what its nodes carry. */
export interface Flavor {
  readonly name: string
  readonly labels: Labels
  readonly taints: ReadonlyArray<Taint>
  /** Given to whatever runs on it. */
  readonly tolerations: ReadonlyArray<Toleration>
}

/** Which flavors will do for replicas. */
export interface FlavorDemand {
  readonly selection: LabelSelection
  readonly tolerations: ReadonlyArray<Toleration>
}

/** Whether replicas may run on nodes of the flavor, as far as its labels and taints say. */
export const accepts = (flavor: Flavor, { selection, tolerations }: FlavorDemand): boolean =>
  !repels(flavor.taints, [...tolerations, ...flavor.tolerations]) && maySelect(selection, flavor.labels)

import { wholeGpu } from '../kernel/units.ts'
import type { AllocationPolicy } from './allocation-policy.ts'
import { milliUnitsOf } from './quota-policy.ts'

/** What a device of each model counts for, and under which accelerator class its quota is kept. */
export class UnitTable {
  private readonly byModel = new Map<string, { readonly accelerator: string; readonly milliUnits: number }>()

  constructor(policy: AllocationPolicy | null) {
    for (const { name, models, milliUnits } of policy?.accelerators ?? [])
      for (const model of [name, ...models])
        if (!this.byModel.has(model)) this.byModel.set(model, { accelerator: name, milliUnits })
  }

  /** Thousandths of the reference device. */
  milliUnits(model: string | null): number {
    if (model === null) return wholeGpu
    return this.byModel.get(model)?.milliUnits ?? milliUnitsOf(model)
  }

  /** A model that no accelerator of the policy names is one of its own name; null: any. */
  accelerator(model: string | null): string | null {
    return model === null ? null : (this.byModel.get(model)?.accelerator ?? model)
  }
}

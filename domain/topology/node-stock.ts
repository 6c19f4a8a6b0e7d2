import type { Labels } from '../fleet/label-selection.ts'
import type { Taint } from '../fleet/taint.ts'

/** Each resource once. */
export type Amounts = ReadonlyArray<readonly [resource: string, amount: number]>

/** A machine as a scheduler of pods knows it; what it has less of than is asked for is 0 where it is not stated. */
export interface StockedNode {
  readonly name: string
  readonly labels: Labels
  readonly taints: ReadonlyArray<Taint>
  /** Ready, and not cordoned. */
  readonly takesWork: boolean
  readonly capacity: Amounts
  /** What others than the workloads of the queues hold of it. */
  readonly usedByOthers: Amounts
}

/** What is free on each node, whichever flavor its holders came by: columns of one amount per node and resource. */
export class NodeStock {
  readonly nodes: ReadonlyArray<StockedNode>
  readonly resources: ReadonlyArray<string>
  private readonly numberOf: ReadonlyMap<string, number>
  /** Below 0 where more is held than there is. */
  private readonly free: Float64Array
  /** The same while nobody holds anything but those others. */
  private readonly unheld: Float64Array

  constructor(nodes: ReadonlyArray<StockedNode>) {
    this.nodes = nodes
    this.resources = [...new Set(nodes.flatMap(({ capacity }) => capacity.map(([resource]) => resource)))].sort()
    this.numberOf = new Map(this.resources.map((resource, number) => [resource, number]))
    this.free = new Float64Array(nodes.length * this.resources.length)
    nodes.forEach(({ capacity, usedByOthers }, node) => {
      this.add(node, capacity, 1)
      this.add(node, usedByOthers, -1)
    })
    this.unheld = this.free.slice()
  }

  /** Undefined: no node has any. */
  resource(name: string): number | undefined {
    return this.numberOf.get(name)
  }

  freeOn(node: number, resource: number, when: 'now' | 'empty'): number {
    const amounts = when === 'now' ? this.free : this.unheld
    return Math.max(0, amounts[node * this.resources.length + resource]!)
  }

  /** Adds so many times the amounts; resources that no node has are left out. */
  add(node: number, amounts: Amounts, times: number): void {
    for (const [name, amount] of amounts) {
      const resource = this.numberOf.get(name)
      if (resource !== undefined) this.free[node * this.resources.length + resource]! += times * amount
    }
  }
}

/** An amount of a resource, each resource once. `column` -1: nobody has any of it. */
export interface Column {
  readonly resource: string
  readonly column: number
  readonly amount: number
}

/** Amounts per leaf and resource. */
export class LeafStock {
  private readonly width: number
  private readonly amounts: Float64Array

  constructor(leaves: number, resources: number) {
    this.width = resources
    this.amounts = new Float64Array(leaves * resources)
  }

  amount(row: number, resource: number): number {
    return this.amounts[row * this.width + resource]!
  }

  set(row: number, resource: number, amount: number): void {
    this.amounts[row * this.width + resource] = amount
  }

  add(row: number, amounts: ReadonlyArray<Column>, times: number): void {
    for (const { column, amount } of amounts)
      if (column >= 0) this.amounts[row * this.width + column]! += times * amount
  }

  /** How often the amounts, each above 0, are there, and the resource that they are there so seldom of. */
  holds(row: number, amounts: ReadonlyArray<Column>): { readonly replicas: number; readonly limit: string } {
    let replicas = Infinity
    let limit = ''
    for (const { resource, column, amount } of amounts) {
      const here = column < 0 ? 0 : Math.floor(this.amount(row, column) / amount)
      if (here > replicas || (here === replicas && resource >= limit)) continue
      replicas = here
      limit = resource
    }
    return { replicas: Math.max(0, replicas), limit }
  }
}

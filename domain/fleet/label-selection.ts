export type Labels = Readonly<Record<string, string>>

export interface LabelCondition {
  readonly key: string
  readonly op: 'in' | 'notIn'
  readonly values: ReadonlyArray<string>
}

/** Which nodes will do: all of `labels`, and one of `terms`, whose conditions hold together; no terms: any. */
export interface LabelSelection {
  readonly labels: Labels
  readonly terms: ReadonlyArray<ReadonlyArray<LabelCondition>>
}

/** Whether a node with these labels will do. */
export const selects = ({ labels, terms }: LabelSelection, node: Labels): boolean =>
  Object.entries(labels).every(([key, value]) => labelOf(node, key) === value) &&
  (terms.length === 0 || terms.some((term) => term.every((condition) => holds(condition, node))))

/**
 * Whether nodes of a kind that carries `kind` may do: what they may carry besides is not known here, so conditions on
 * other keys are left out, and a term of which nothing is left holds.
 */
export const maySelect = ({ labels, terms }: LabelSelection, kind: Labels): boolean =>
  Object.entries(labels).every(([key, value]) => !Object.hasOwn(kind, key) || kind[key] === value) &&
  (terms.length === 0 ||
    terms.some((term) => term.every((condition) => !Object.hasOwn(kind, condition.key) || holds(condition, kind))))

const holds = ({ key, op, values }: LabelCondition, node: Labels): boolean => {
  const value = labelOf(node, key)
  return (value !== undefined && values.includes(value)) === (op === 'in')
}

const labelOf = (node: Labels, key: string): string | undefined => (Object.hasOwn(node, key) ? node[key] : undefined)

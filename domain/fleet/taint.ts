export type TaintEffect = 'noSchedule' | 'noExecute' | 'preferNoSchedule'

export interface Taint {
  readonly key: string
  readonly value: string
  readonly effect: TaintEffect
}

/** Null: any key, any effect. With `exists` the value says nothing. */
export interface Toleration {
  readonly key: string | null
  readonly operator: 'equal' | 'exists'
  readonly value: string
  readonly effect: TaintEffect | null
}

/** Whether a taint that is not tolerated keeps work away; `preferNoSchedule` keeps nobody away. */
export const repels = (taints: ReadonlyArray<Taint>, tolerations: ReadonlyArray<Toleration>): boolean =>
  taints.some(
    (taint) => taint.effect !== 'preferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
  )

/** A toleration without a key matches any taint, provided that it asks for existence only. */
export const tolerates = ({ key, operator, value, effect }: Toleration, taint: Taint): boolean =>
  (effect === null || effect === taint.effect) &&
  (key === null ? operator === 'exists' : key === taint.key) &&
  (operator === 'exists' || value === taint.value)

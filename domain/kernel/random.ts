/** All there is to know of a sequence of random numbers: 32 bits. Any whole number will do as a seed. */
export type RandomState = number

/** @returns 32 random bits as a whole number from 0 on, and the state that gives the next ones (splitmix32) */
export const nextRandom = (state: RandomState): readonly [bits: number, next: RandomState] => {
  const next = (state + 0x9e3779b9) | 0
  let bits = Math.imul(next ^ (next >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return [(bits ^ (bits >>> 15)) >>> 0, next]
}

/** Up to here `randomBelow` stays exact: 32 bits times this is a safe integer. */
export const randomBoundMax = 2 ** 21

/** @returns a whole number from 0 to `bound` - 1, and the next state; `bound` is from 1 to `randomBoundMax` */
export const randomBelow = (state: RandomState, bound: number): readonly [value: number, next: RandomState] => {
  const [bits, next] = nextRandom(state)
  return [Math.floor((bits * bound) / 2 ** 32), next]
}

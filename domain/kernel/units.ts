import * as t from 'io-ts'

const natural = <N extends string, B extends { readonly [K in N]: symbol }>(name: N) =>
  t.brand<t.NumberC, N, B>(t.number, (n): n is t.Branded<number, B> => Number.isSafeInteger(n) && n >= 0, name)

/** Thousandths of one GPU: a whole GPU is 1000; one of seven MIG slices is 143, rounded up. */
export const GpuMilli = natural<'GpuMilli', { readonly GpuMilli: unique symbol }>('GpuMilli')
export type GpuMilli = t.TypeOf<typeof GpuMilli>

/** Milliseconds since 1970-01-01T00:00:00Z; in a simulation, since the start of its trace. */
export const EpochMs = natural<'EpochMs', { readonly EpochMs: unique symbol }>('EpochMs')
export type EpochMs = t.TypeOf<typeof EpochMs>

export const DurationMs = natural<'DurationMs', { readonly DurationMs: unique symbol }>('DurationMs')
export type DurationMs = t.TypeOf<typeof DurationMs>

/** Whole mebibytes, of host memory or of device memory. */
export const Mebibytes = natural<'Mebibytes', { readonly Mebibytes: unique symbol }>('Mebibytes')
export type Mebibytes = t.TypeOf<typeof Mebibytes>

/** Thousandths of one CPU core. */
export const CpuMilli = natural<'CpuMilli', { readonly CpuMilli: unique symbol }>('CpuMilli')
export type CpuMilli = t.TypeOf<typeof CpuMilli>

export const wholeGpu = 1000

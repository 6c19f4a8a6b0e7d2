import fc from 'fast-check'
import type { NodeSpec } from '../../domain/fleet/fleet.ts'
import type { CpuMilli, GpuMilli, Mebibytes } from '../../domain/kernel/units.ts'
import type { PlacementRequest, Span } from '../../domain/workload/request.ts'

const models = ['a', 'b', 'c']

/** Small nodes that differ in everything that a placement looks at; often two of them are alike. */
export const anyNode = (number: number): fc.Arbitrary<NodeSpec> =>
  fc.record({
    cpuMilli: fc.constantFrom(null, null, 2000, 4000, 8000),
    deviceMemoryMib: fc.constantFrom(null, 80, 80, 40),
    devices: fc.constantFrom(0, 1, 2, 3, 4),
    domain: fc.constantFrom(null, 'x', 'y'),
    hostMemoryMib: fc.constantFrom(null, null, 300),
    model: fc.constantFrom(null, ...models),
    node: fc.constant(`n${number}`),
  })

export const anyNodes = (least = 1, most = 6): fc.Arbitrary<ReadonlyArray<NodeSpec>> =>
  fc
    .integer({ min: least, max: most })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, number) => anyNode(number))))

/** Shares, slices by memory, whole devices, gangs of each, and requests without a device. */
export const anyRequest: fc.Arbitrary<PlacementRequest> = fc
  .record({
    cpuMilli: fc.constantFrom(0, 0, 0, 1000, 1500, 3001),
    devices: fc.constantFrom(0, 1, 1, 1, 2, 3, 4, 6),
    hostMemoryMib: fc.constantFrom(0, 0, 0, 100),
    memoryMib: fc.constantFrom(0, 0, 0, 10, 30, 40, 48, 80),
    milli: fc.constantFrom(0, 130, 250, 500, 810, 1000, 1000),
    models: fc.constantFrom<ReadonlyArray<string> | null>(null, null, null, ['a'], ['a', 'b'], ['d']),
    span: fc.constantFrom<Span>('node', 'node', 'domain', 'anywhere'),
  })
  .map(({ devices, memoryMib, milli, ...rest }) =>
    requestOf({
      ...rest,
      devices,
      milli: devices === 0 ? 0 : milli,
      memoryMib: devices === 0 ? 0 : milli === 0 && memoryMib === 0 ? 40 : memoryMib,
    }),
  )

/** One whole device of any model on one node, but for what is stated. */
export const requestOf = (
  stated: Partial<{
    readonly [K in keyof PlacementRequest]: PlacementRequest[K] extends number ? number : PlacementRequest[K]
  }>,
): PlacementRequest => {
  const { cpuMilli = 0, devices = 1, hostMemoryMib = 0, memoryMib = 0, milli = 1000, models: wanted = null } = stated
  return {
    cpuMilli: cpuMilli as CpuMilli,
    devices,
    hostMemoryMib: hostMemoryMib as Mebibytes,
    memoryMib: memoryMib as Mebibytes,
    milli: milli as GpuMilli,
    models: wanted,
    span: stated.span ?? 'node',
  }
}

/** A node without limits but its devices, of any model and in no domain. */
export const nodeOf = (node: string, devices: number, stated: Partial<NodeSpec> = {}): NodeSpec => ({
  cpuMilli: null,
  deviceMemoryMib: null,
  devices,
  domain: null,
  hostMemoryMib: null,
  model: null,
  node,
  ...stated,
})

import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { upcast } from '../../../domain/planner/cell-event.codec.ts'
import { cellEventVersions } from '../../../domain/planner/cell-event.ts'
import { expectReadable } from '../../support/faults.ts'

describe('a stored event', () => {
  const message = { type: 'Ticked', at: 0 as EpochMs, data: {} }
  it('should be taken as it is when this release wrote it, whatever a newer writer added', () => {
    for (const [type, version] of Object.entries(cellEventVersions)) {
      const stored = { ...message, type, data: { addedLater: 1 } }
      expect(upcast(stored, version)).toEqual(E.right(stored))
    }
  })
  it('should be refused when it is of a newer version, with both versions and what to do', () => {
    expect(upcast(message, 2)).toEqual(
      E.left({
        path: 'version',
        reason: 'Ticked is of version 2; this release reads up to version 1',
        mend: 'a newer release wrote it: upgrade to that release',
      }),
    )
  })
  it('should be refused when its type is not known', () => {
    for (const type of ['WorkloadPreempted', 'Tickd', 'toString', '__proto__', '\u001b[2J']) {
      const lifted = upcast({ ...message, type }, 1)
      expect(E.isLeft(lifted)).toBe(true)
      if (E.isLeft(lifted)) expectReadable([lifted.left])
    }
  })
  it.each([0, -1, 1.5, NaN])('should be refused at version %s, which nobody wrote', (version) => {
    const lifted = upcast(message, version)
    expect(E.isLeft(lifted) && lifted.left.mend).toContain('audit verify')
  })
  it('should be lifted version by version', () => {
    const table = { Ticked: [(data: unknown) => ({ was1: data }), (data: unknown) => ({ was2: data })] }
    const versions = { Ticked: 3 }
    expect(upcast(message, 1, table, versions)).toEqual(E.right({ ...message, data: { was2: { was1: {} } } }))
    expect(upcast(message, 2, table, versions)).toEqual(E.right({ ...message, data: { was2: {} } }))
    expect(upcast(message, 3, table, versions)).toEqual(E.right(message))
    expect(E.isLeft(upcast(message, 1, {}, versions))).toBe(true)
  })
})

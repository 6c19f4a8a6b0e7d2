import { either as E } from 'fp-ts'
import type { DurationMs, EpochMs, GpuMilli, Mebibytes } from '../../domain/kernel/units.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { policyActivated } from '../../services/decide/policy-activated.ts'
import { nodeFact } from './fact-script.ts'

export const cellName = 'cell-default'

type Fact = CellInput & { readonly id: string }

export const nodeOf = (node: string, devices = 8): Fact => ({ id: `node/${node}`, ...nodeFact(node, devices) })

export const policyOf = (more: Partial<AllocationPolicy> = {}, at = 0): Fact => {
  const activated = policyActivated({ ...defaultPolicy, ...more }, at as EpochMs)
  return { id: `policy/${activated.data.hash}/${at}`, ...activated }
}

export const submission = (workload: string, devices: number, at = 0, estimateMs: number | null = 60_000): Fact => ({
  id: `submit/${workload}`,
  type: 'WorkloadSubmitted',
  at: at as EpochMs,
  data: {
    class: 'training',
    estimateMs: estimateMs as DurationMs | null,
    queue: 'default',
    request: {
      cpuMilli: 0 as never,
      devices,
      hostMemoryMib: 0 as Mebibytes,
      memoryMib: 0 as Mebibytes,
      milli: 1_000 as GpuMilli,
      models: null,
      span: 'node',
    },
    team: 'research',
    terms: unstatedTerms,
    workload,
  },
})

/** The log, until its disk is full for so many appends. */
export const logThatFills = (log: EventLog) => {
  const state = { failing: 0, appends: 0 }
  const full: LogUnavailable = { type: 'LogUnavailable', kind: 'full', reason: 'the disk is full', mend: 'make room' }
  const failing: EventLog = {
    ...log,
    append: (stream, expected, events) => async () => {
      state.appends += 1
      if (state.failing <= 0) return log.append(stream, expected, events)()
      state.failing -= 1
      await new Promise(setImmediate)
      return E.left(full)
    },
  }
  return { log: failing, state }
}

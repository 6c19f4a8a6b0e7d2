import type { LeasePart, WorkloadSubmitted } from '../../domain/planner/cell-event.ts'

/** A workload that waits or runs, as its rows need it. Instants in ms. */
export interface LiveWorkload {
  readonly id: string
  /** Position of its submission: a name may come again when what bore it is gone. */
  readonly submission: number
  readonly submittedAt: number
  readonly submitted: WorkloadSubmitted['data']
  /** Of the first attempt that was not given back unstarted. */
  firstStartedAt: number | null
  /** Number of the last one; 0: none. */
  attempts: number
  requeues: number
  hold: Hold | null
  attempt: LiveAttempt | null
  /** Told to an adapter, without an outcome so far; by id. */
  readonly commands: Map<string, OpenCommandRow>
}

export interface Hold {
  readonly position: number
  readonly from: number
  readonly code: string
  readonly rule: string
  readonly behind: string | null
}

export interface LiveAttempt {
  readonly number: number
  readonly startedAt: number
  readonly waitedMs: number
  readonly resumes: boolean
  /** Node of the budget tree that it is charged to; empty: none. */
  readonly budget: string
  readonly milliUnits: number | null
  /** Its place was made free by an eviction. */
  readonly preempted: boolean
  readonly limitAt: number | null
  /** The workload had not started before. */
  readonly isFirst: boolean
  expectedEndAt: number | null
  parts: ReadonlyArray<HeldPart>
}

/** Part of a lease, and since when it is held as it is. */
export interface HeldPart {
  readonly part: LeasePart
  readonly from: number
}

export interface OpenCommandRow {
  readonly command: string
  readonly verb: string
  readonly attempt: number
  readonly because: string
  readonly node: string | null
  readonly preemptor: string | null
  readonly rule: string
  readonly issuedAt: number
  readonly deadlineAt: number
}

/** Thousandths of a device that the parts hold together. */
export const leasedMilli = (parts: ReadonlyArray<HeldPart>): number =>
  parts.reduce((sum, { part }) => sum + part.devices.length * part.milli, 0)

export const leasedDevices = (parts: ReadonlyArray<HeldPart>): number =>
  parts.reduce((sum, { part }) => sum + part.devices.length, 0)

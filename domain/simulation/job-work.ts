import type { WorkloadTerms } from '../workload/terms.ts'
import type { TraceJob } from './trace-job.ts'

/** A job that also says what it declares: whether it may be evicted, its checkpoints, its grace and its budget. */
export interface ContractJob extends TraceJob {
  readonly terms: WorkloadTerms
}

/**
 * What a job has still to do, in device-ms: what it does at its full size in the time that its trace says. On fewer devices
 * it takes longer in proportion; what is not saved when its attempt stops has to be done again.
 */
export class JobWork {
  readonly job: ContractJob
  /** Order of submission. */
  readonly seq: number
  attempt = 0
  /** Devices that its attempt holds; 0: it does not run. */
  devices = 0
  /** Grows whenever its end moves, so that an end foreseen before is not taken for one. */
  version = 0
  onHold = false
  private left: number
  private unsaved = 0
  private countedTo = 0

  constructor(job: ContractJob, seq: number) {
    this.job = job
    this.seq = seq
    this.left = job.runMs! * sizeOf(job)
  }

  get runs(): boolean {
    return this.devices > 0
  }

  /** When it is done if nothing happens to it. */
  get endAt(): number {
    return this.countedTo + Math.max(0, Math.ceil((this.left - this.unsaved) / this.devices))
  }

  start(at: number, attempt: number, devices: number): void {
    this.attempt = attempt
    this.devices = Math.max(1, devices)
    this.countedTo = at
    this.version++
  }

  /** A checkpoint is durable. */
  save(at: number): void {
    this.count(at)
    this.left -= this.unsaved
    this.unsaved = 0
  }

  resize(at: number, devices: number): void {
    this.count(at)
    this.devices = devices
    this.version++
  }

  /** Its attempt is over, and with it what was not saved. */
  stop(at: number): void {
    this.count(at)
    this.unsaved = 0
    this.devices = 0
    this.version++
  }

  private count(at: number): void {
    this.unsaved += this.devices * (at - this.countedTo)
    this.countedTo = at
  }
}

/** A job without devices runs as if it had one. */
const sizeOf = ({ request }: TraceJob): number => Math.max(1, request.devices)

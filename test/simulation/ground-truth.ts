import { commandKey } from '../../domain/planner/command-event.ts'
import type { Command } from '../../domain/planner/command.ts'
import type { JournalLine, OpenJournal } from '../../services/schedulers/embedded/journal.ts'
import type { Chance, Lifeline } from './lifeline.ts'
import type { Weather } from './weather.ts'

/** A job as the adapter's journal tells it. */
interface Job {
  readonly name: string
  readonly lease: Command['lease']
  readonly endsAt: number
}

/** What the adapter really did, kept apart from what the log says of it. It outlives the processes of the system. */
export class GroundTruth {
  private readonly lines: JournalLine[] = []
  private readonly commands = new Map<string, Command>()
  private readonly acted = new Set<string>()
  private readonly running = new Map<string, Job>()
  /** What must not happen, in words; empty while all is well. */
  readonly wrong: string[] = []
  starts = 0

  /** The journal of one process: a line is kept, or it is not and the command fails. */
  journalOf(life: Lifeline, weather: Weather, below: Chance): OpenJournal {
    return (follow) => {
      for (const line of this.lines) follow(line)
      return Promise.resolve({
        append: (line) =>
          life.outside(() => {
            if (weather.journal && below(6) === 0) throw new Error('the disk is full')
            this.keep(line)
            follow(line)
          }),
        close: () => Promise.resolve(),
      })
    }
  }

  reached(command: Command): void {
    this.commands.set(commandKey(command), command)
  }

  private keep(line: JournalLine): void {
    this.lines.push(line)
    if (!('deed' in line)) return
    const { key, at, job } = line.deed
    if (this.acted.has(key)) this.wrong.push(`${key} had its effect twice`)
    this.acted.add(key)
    if (job === null) return
    if (job.now === null) {
      this.running.delete(job.name)
      return
    }
    const { lease, verb } = this.commands.get(key)!
    if (verb === 'start' || verb === 'resume') this.starts += 1
    const started: Job = { name: job.name, lease, endsAt: job.now.endsAt }
    this.expectFree(started, at)
    this.running.set(job.name, started)
  }

  private expectFree(started: Job, at: number): void {
    for (const [name, other] of this.running) {
      if (other.endsAt <= at) this.running.delete(name)
      else if (name !== started.name && overlap(other, started))
        this.wrong.push(`${started.name} was started at ${at} on devices on which ${name} ran until ${other.endsAt}`)
    }
  }
}

/** Every request in these worlds is for whole devices. */
const overlap = (one: Job, other: Job): boolean =>
  one.lease.some(({ node, devices }) =>
    other.lease.some((part) => part.node === node && part.devices.some((device) => devices.includes(device))),
  )

import type { Placement as Found, PlacementPart } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import { canPlace } from '../fleet/spanning.ts'
import type { PodSetAssignment } from '../kueue/assignment.ts'
import type { Head } from '../kueue/head.ts'
import type { Holder } from '../kueue/holdings.ts'
import type { Placement, Placer } from '../kueue/placer.ts'
import type { Block } from './block.ts'
import type { Cell } from './cell.ts'
import { Gathering } from './gathering.ts'
import type { HoldingCheck } from './holding-check.ts'
import type { KueueBooks } from './kueue-books.ts'
import type { Workload } from './workload.ts'

/** Where a head would go: chosen when it is its turn, beside what those before it hold. */
interface Option {
  readonly workload: Workload
  readonly shape: Shape
  readonly accelerator: string | null
  /** Who has left by then: its own victims. Into what others leave for others it does not go. */
  readonly out: ReadonlyArray<Holder>
  found: Found | null
}

/** Finds places on real devices for the heads of an admission cycle. */
export class KueuePlacer implements Placer {
  /** Heads that had quota, or would have with others gone, and found no place. */
  readonly placeless = new Set<string>()
  /** Of those, heads that would have one but for what is kept for others. */
  private readonly kept = new Map<string, Block>()
  private readonly cell: Cell
  private readonly books: KueueBooks
  private readonly check: HoldingCheck
  private readonly choose: (shape: Shape, workload: Workload) => Found | null
  private readonly options = new WeakMap<Placement, Option>()
  private readonly held = new Map<string, Gathering>()
  /** How often each device is about to be taken by one for whom others leave. */
  private readonly promised = new Map<number, number>()

  constructor(
    cell: Cell,
    books: KueueBooks,
    check: HoldingCheck,
    choose: (shape: Shape, workload: Workload) => Found | null,
  ) {
    this.cell = cell
    this.books = books
    this.check = check
    this.choose = choose
    for (const { parts } of cell.places.values()) this.promise(parts, 1)
  }

  /** Devices are promised to one whose place is kept, or no longer. */
  promise(parts: Found['parts'], sign: 1 | -1): void {
    const { firstDevice } = this.cell.fleet
    for (const { node, devices } of parts)
      for (const device of devices) {
        const at = firstDevice[node]! + device
        const times = (this.promised.get(at) ?? 0) + sign
        if (times === 0) this.promised.delete(at)
        else this.promised.set(at, times)
      }
  }

  /** A head is looked at anew. */
  begin(id: string): void {
    this.placeless.delete(id)
    this.kept.delete(id)
  }

  /** For whom is kept what it would have; null: it lacks room. */
  keptFrom(id: string): Block | null {
    return this.kept.get(id) ?? null
  }

  /** The place that was found for a head whose turn has been. */
  foundFor(placement: Placement): Found | null {
    return this.options.get(placement)?.found ?? null
  }

  readonly concerns = (): boolean => true

  readonly place = (
    head: Head,
    podSets: ReadonlyArray<PodSetAssignment>,
    out: ReadonlyArray<Holder> | 'everyone',
  ): Placement | null => {
    const option = this.optionFor(head, podSets, out === 'everyone' ? [] : out)
    const fits =
      out === 'everyone'
        ? this.cell.verdict(option.shape).holds
        : this.mayGo(option) || this.without(out, () => this.mayGo(option)) === true
    if (!fits) {
      this.placeless.add(head.id)
      return null
    }
    const placement: Placement = []
    // On an empty fleet it has a place; none of this one.
    if (out !== 'everyone') this.options.set(placement, option)
    return placement
  }

  readonly isFree = (head: Head, _podSets: ReadonlyArray<PodSetAssignment>, placement: Placement): boolean => {
    const option = this.options.get(placement)
    if (option === undefined) return true
    // What is free already is there sooner than what others have to leave.
    const found = this.foundOf(option) ?? this.without(option.out, () => this.foundOf(option))
    option.found = found !== null && this.isOn(option, found) ? found : null
    if (option.found === null) this.placeless.add(head.id)
    return option.found !== null
  }

  readonly hold = (head: Head, _podSets: ReadonlyArray<PodSetAssignment>, placement: Placement): void => {
    const option = this.options.get(placement)
    // Who waits for those who leave anyway keeps no devices from others: it may take until they have left.
    if (option?.found == null || (option.out.length > 0 && option.out.every(({ evicting }) => evicting))) return
    const held = new Gathering(option.workload.shape, option.found.parts)
    this.promise(held.parts, 1)
    held.gather(this.cell.fleet, null)
    this.held.set(head.id, held)
  }

  readonly release = (head: Head): void => {
    const held = this.held.get(head.id)
    if (held === undefined) return
    held.release(this.cell.fleet)
    this.promise(held.parts, -1)
    this.held.delete(head.id)
  }

  /** Whether there is room for it, but for what is kept for others. */
  private mayGo(option: Option): boolean {
    return canPlace(this.cell.fleet, option.shape) && (!this.books.held.keep || this.foundOf(option) !== null)
  }

  private foundOf({ shape, workload }: Option): Found | null {
    const found = this.choose(shape, workload)
    if (found === null || !this.books.held.keep) return found
    const block = this.check.reserves(workload, found)
    if (block !== null) this.kept.set(workload.id, block)
    return block === null ? found : null
  }

  private optionFor({ id }: Head, [podSet]: ReadonlyArray<PodSetAssignment>, out: ReadonlyArray<Holder>): Option {
    const workload = this.cell.workloads.get(id)!
    const accelerator = podSet!.flavors[0]?.flavor ?? null
    const shape = this.books.asks.shapeOf(workload, accelerator, podSet!.count)
    return { workload, accelerator, shape, out, found: null }
  }

  /** Its devices count for the quota that it was given, and no other. */
  private isOn({ accelerator, workload }: Option, { parts }: Found): boolean {
    return (
      accelerator === null || parts.every(({ node }) => this.books.asks.acceleratorOn(workload, node) === accelerator)
    )
  }

  /** What comes of `look` while those have left, but for what is promised of theirs. */
  private without<A>(out: ReadonlyArray<Holder>, look: () => A | null): A | null {
    if (out.length === 0) return null
    const { fleet } = this.cell
    const gone = out.flatMap((holder) => {
      const workload = this.books.workloadOf(holder)
      if (workload?.run == null) return []
      return workload.run.parts.flatMap((part) => this.unpromised(part)).map((part) => ({ workload, part }))
    })
    for (const { workload, part } of gone) fleet.give(workload.shape, part)
    const outcome = look()
    for (const { workload, part } of gone) fleet.take(workload.shape, part)
    return outcome
  }

  private unpromised(part: PlacementPart): ReadonlyArray<PlacementPart> {
    if (this.promised.size === 0) return [part]
    const first = this.cell.fleet.firstDevice[part.node]!
    const devices = part.devices.filter((device) => !this.promised.has(first + device))
    if (devices.length === part.devices.length) return [part]
    return devices.length === 0 ? [] : [{ ...part, devices }]
  }
}

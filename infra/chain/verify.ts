import { either as E } from 'fp-ts'
import type { StreamHead } from '../../domain/ports/event-log.ts'
import { findingsMax, hashAt, type AuditedLog, type Finding, type LeafPage } from './audited-log.ts'
import { chainHead, type LogHead } from './chain-head.ts'
import { genesis, leafHash, previousHashOf } from './stored-event.ts'

export interface Verification {
  readonly ok: boolean
  /** Events that were read, damaged ones included. */
  readonly events: number
  readonly head: LogHead
  /** At most `findingsMax`, in order of position; those that have none come last. */
  readonly findings: ReadonlyArray<Finding>
}

const pageEvents = 128

/**
 * Reads the whole log through the readers' own queries and recomputes every hash; positions and revisions have no gap,
 * each stream is one chain, and the heads and indexes that readers go by agree with it. Who can write the log can also
 * rewrite it whole: that, and a tail that has been cut off, shows only against a head noted earlier.
 */
export const verify = async (log: AuditedLog, expected: LogHead | null = null): Promise<Verification> => {
  const beneath = log.damage() // Runs beside the reading where the adapter can.
  const chain = chainReader(expected)
  let next: number | null = 0
  while (next !== null && chain.findings.length < findingsMax) {
    const page: E.Either<unknown, LeafPage> = await log.leaves(next, pageEvents)()
    next = E.isRight(page) ? chain.take(next, page.right) : await takeOneByOne(log, chain, next)
  }
  const findings = [...chain.findings, ...(await disagreements(log, chain)), ...(await beneath)]
  const head = chainHead(chain.heads())
  const events = chain.read()
  if (next === null && expected !== null && events < expected.size)
    findings.push({
      ...nowhere,
      reason: `it holds ${events} events, ${expected.size} were expected: its end is cut off`,
    })
  const sorted = findings.sort((a, b) => (a.position ?? Infinity) - (b.position ?? Infinity) || 0).slice(0, findingsMax)
  return { ok: sorted.length === 0, events, head, findings: sorted }
}

/** `SIZE:HASH`, as a head is printed; null when the text is not one. */
export const parseLogHead = (text: string): LogHead | null => {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text)
  return match === null ? null : { size: Number(match[1]), hash: match[2]! }
}

const nowhere = { position: null, stream: null, revision: null }

/** A page that cannot be read as a whole: each of its events alone, so that the damaged ones are named. */
const takeOneByOne = async (log: AuditedLog, chain: ChainReader, from: number): Promise<number | null> => {
  const end = from + pageEvents
  let next = from
  let unreadable = 0
  while (next < end && chain.findings.length < findingsMax) {
    const page = await log.leaves(next, 1)()
    if (E.isRight(page)) {
      const after = chain.take(next, page.right)
      if (after === null) return null
      next = after
      continue
    }
    chain.skip(next, `it cannot be read: ${page.left.reason}`)
    next += 1
    unreadable += 1
    // The damage is not in the events: there may not even be any.
    if (unreadable === unreadableMax && next === from + unreadable) return null
  }
  return next
}

const unreadableMax = 32

interface ChainReader {
  readonly findings: ReadonlyArray<Finding>
  /** Events so far. */
  readonly read: () => number
  /** An event that could not be read: what follows it in its stream is taken up as it is. */
  readonly skip: (position: number, reason: string) => void
  /** Checks a page that was read from `from` on; returns where to go on. */
  readonly take: (from: number, page: LeafPage) => number | null
  readonly heads: () => ReadonlyArray<StreamHead>
}

/** Where one stream has got to. Either hash may precede its next event: if one of them is damaged, it is found once. */
interface Link {
  readonly stream: string
  size: number
  stored: string
  computed: string
  /** What stands between position and revision. */
  readonly between: string
}

const opening = '{"position":'
const place = /^\{"position":(-?\d+),"stream":"([^"]*)","revision":(-?\d+),"version":/

const chainReader = (expected: LogHead | null): ChainReader => {
  const findings: Finding[] = []
  const links = new Map<string, Link>()
  let last: Link | null = null
  let gap = false
  let read = 0

  const linkOf = (stream: string): Link => {
    const known = links.get(stream)
    if (known !== undefined) return known
    const between = `,"stream":"${stream}","revision":`
    const link = { stream, size: 0, stored: genesis, computed: genesis, between }
    links.set(stream, link)
    return link
  }
  const heads = (): ReadonlyArray<StreamHead> =>
    [...links.values()].map(({ stream, size, stored }) => ({ stream, size, hash: stored }))
  const note = (finding: Finding): void => {
    if (findings.length < findingsMax) findings.push(finding)
  }
  /** The event is not where it is expected, or cannot be placed at all. Returns the position to take it for. */
  const misplaced = (leaf: string, position: number, end: number): number => {
    const match = place.exec(leaf)
    if (match === null) {
      note({ ...nowhere, position, reason: 'it is not an event as one is written' })
      gap = true
      last = null
      return position
    }
    const stream = match[2]!
    const at = Number(match[1])
    const revision = Number(match[3])
    const isGap = at > position && at < end
    const link = linkOf(stream)
    if (isGap) note({ ...nowhere, position, reason: missing(position, at) })
    else if (at !== position)
      note({ position, stream, revision, reason: `the event of position ${at} is in its place` })
    else if (!gap) note({ position, stream, revision, reason: `the next revision of ${stream} is ${link.size}` })
    link.size = revision
    // It is taken up as it is, so that what has been said is said once.
    link.stored = previousHashOf(leaf)
    last = link
    gap ||= isGap
    return isGap ? at : position
  }
  /** Returns the position after it. */
  const check = (leaf: string, hash: string, expectedAt: number, end: number): number => {
    let position = expectedAt
    if (last === null || !isNext(leaf, position, last)) {
      const match = place.exec(leaf)
      const link = match?.[1] === String(position) ? linkOf(match[2]!) : null
      if (link !== null && match?.[3] === String(link.size)) last = link
      else position = misplaced(leaf, position, end)
    }
    const link: Link | null = last
    if (link === null) return position + 1
    const computed = leafHash(leaf)
    const previous = previousHashOf(leaf)
    if (computed !== hash)
      note({ position, stream: link.stream, revision: link.size, reason: 'its hash is not the hash of its content' })
    else if (previous !== link.stored && previous !== link.computed && !gap)
      note({
        position,
        stream: link.stream,
        revision: link.size,
        reason: `it does not follow from revision ${link.size - 1} of ${link.stream}`,
      })
    link.size += 1
    link.stored = hash
    link.computed = computed
    return position + 1
  }
  const take = (from: number, { leaves, hashes, next }: LeafPage): number | null => {
    let position = from
    for (let i = 0; i < leaves.length; i++) {
      position = check(leaves[i]!, hashAt(hashes, i), position, from + pageEvents)
      read += 1
      if (expected !== null && read === expected.size && chainHead(heads()).hash !== expected.hash)
        note({ ...nowhere, reason: `its first ${read} events are not those of ${expected.size}:${expected.hash}` })
    }
    if (next === null) return null
    if (next > position) note({ ...nowhere, position, reason: missing(position, next) })
    if (next > from) return next
    // Asked for what follows, the log leads back: only damage does that.
    note({ ...nowhere, position: from, reason: 'it cannot be read, though the log says that it is there' })
    return from + 1
  }
  const skip = (position: number, reason: string): void => {
    note({ ...nowhere, position, reason })
    gap = true
    last = null
  }
  return { findings, read: () => read, skip, take, heads }
}

/** Compares piece by piece: putting the expected text together costs more than all of it. */
const isNext = (leaf: string, position: number, { size, between }: Link): boolean => {
  const at = String(position)
  const revision = String(size)
  const betweenFrom = opening.length + at.length
  const revisionFrom = betweenFrom + between.length
  const revisionTo = revisionFrom + revision.length
  return (
    leaf.slice(opening.length, betweenFrom) === at &&
    leaf.slice(betweenFrom, revisionFrom) === between &&
    leaf.slice(revisionFrom, revisionTo) === revision &&
    leaf[revisionTo] === ','
  )
}

const missing = (from: number, next: number): string =>
  next === from + 1 ? 'it is missing' : `it is missing, and all up to position ${next - 1}`

/** What `heads` tells a writer against what has been read. */
const disagreements = async (log: AuditedLog, chain: ChainReader): Promise<ReadonlyArray<Finding>> => {
  const heads = await log.heads()()
  if (E.isLeft(heads)) return [{ ...nowhere, reason: heads.left.reason }]
  const read = new Map(chain.heads().map((head) => [head.stream, head]))
  const findings: Finding[] = []
  for (const { stream, size, hash } of heads.right) {
    const link = read.get(stream)
    // More than has been read: what is lacking should have come next.
    const position = size > (link?.size ?? 0) ? chain.read() : null
    if (link?.size !== size || link.hash !== hash)
      findings.push({ position, stream, revision: size - 1, reason: 'the last event of the stream was not read' })
    read.delete(stream)
  }
  for (const { stream, size } of read.values())
    findings.push({ position: null, stream, revision: size - 1, reason: 'the stream is not among the heads' })
  // Damage that has been found already is not told twice.
  return chain.findings.length > 0 ? [] : findings
}

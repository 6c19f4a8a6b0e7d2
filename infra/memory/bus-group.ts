import type { BusSubscription, GroupReader, TopicPartition } from '../../domain/ports/message-bus.ts'
import type { MemoryTopic } from './message-bus.ts'

/** Messages that one batch holds at most. */
const batchMessagesMax = 500
const againAfterMs = 20

interface Member {
  readonly reader: GroupReader
  readonly inHand: Set<Promise<void>>
  /** In which deal of the partitions it last took part. */
  stopped: boolean
}

interface Place extends TopicPartition {
  /** The first offset that is not committed. */
  next: number
  owner: Member | null
  /** Which of its owners that is: what an earlier one has in hand is not committed any more. */
  epoch: number
  busy: boolean
}

/** The members of one group, who of them reads which partition, and how far each has got. */
export class MemoryGroup {
  private readonly topicOf: (topic: string) => MemoryTopic
  private readonly members: Member[] = []
  private readonly places = new Map<string, Place>()

  constructor(topicOf: (topic: string) => MemoryTopic) {
    this.topicOf = topicOf
  }

  join(reader: GroupReader): BusSubscription {
    const member: Member = { reader, inHand: new Set(), stopped: false }
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    for (const topic of reader.topics)
      this.topicOf(topic).forEach((_, partition) => {
        const key = `${topic}/${partition}`
        if (!this.places.has(key))
          this.places.set(key, { topic, partition, next: 0, owner: null, epoch: 0, busy: false })
      })
    this.members.push(member)
    this.deal()
    return {
      ended,
      stop: async () => {
        member.stopped = true
        await Promise.all(member.inHand)
        const at = this.members.indexOf(member)
        if (at < 0) return
        this.members.splice(at, 1)
        this.deal()
        end()
      },
    }
  }

  /** Something may have come. */
  look(): void {
    for (const place of this.places.values()) this.deliver(place)
  }

  /** Deals the partitions out anew, in turn among the members that read their topic. */
  private deal(): void {
    let turn = 0
    for (const place of this.places.values()) {
      const readers = this.members.filter(({ reader }) => reader.topics.includes(place.topic))
      const owner = readers.length === 0 ? null : readers[turn++ % readers.length]!
      if (owner === place.owner) continue
      place.owner = owner
      place.epoch++
      place.busy = false
    }
    for (const member of this.members)
      member.reader.assigned?.(
        [...this.places.values()]
          .filter(({ owner }) => owner === member)
          .map(({ partition, topic }) => ({ topic, partition })),
      )
    this.look()
  }

  private deliver(place: Place): void {
    const { owner } = place
    if (owner === null || owner.stopped || place.busy) return
    const partition = this.topicOf(place.topic)[place.partition]!
    if (place.next >= partition.length) return
    place.busy = true
    const handled = this.handle(place, owner).finally(() => owner.inHand.delete(handled))
    owner.inHand.add(handled)
  }

  private async handle(place: Place, owner: Member): Promise<void> {
    const { epoch, next, partition, topic } = place
    // A publisher that has a batch to itself puts all of it there first.
    await Promise.resolve()
    const held = this.topicOf(topic)[partition]!
    const messages = held.slice(next, next + batchMessagesMax)
    const behind = held.length - next - messages.length
    const done = await owner.reader.handle({ topic, partition, messages, behind }).catch(() => 0)
    // It is another's by now, from where this one had committed.
    if (place.epoch !== epoch) return
    place.next = next + Math.min(done, messages.length)
    place.busy = false
    if (done > 0) this.deliver(place)
    else
      setTimeout(() => {
        this.deliver(place)
      }, againAfterMs)
  }
}

import { DiscardPolicy, nanos, RetentionPolicy, StorageType, type StreamConfig } from 'nats'
import type { NatsPlace } from './place.ts'

/** What is kept on the server until it has been taken: commands and outcomes; for good: dead letters; for a while: alerts. */
export const streamKinds = ['cmd', 'outcome', 'dlq', 'alert'] as const
export type StreamKind = (typeof streamKinds)[number]

export const streamName = ({ prefix }: NatsPlace, kind: StreamKind): string => `${prefix}_${kind}`

/** The server remembers ids for so long; ours are remembered by whoever takes them. */
const duplicateWindowMs = 120_000
const waitingBytesMax = 1_073_741_824
const alertDaysMax = 30

/**
 * As this release makes it where there is none. Whoever runs the server may change its limits; what else is there is taken as it
 * is, as long as it takes our subjects and, where each message is for one, keeps each until that one has it.
 */
export const streamConfig = (
  place: NatsPlace,
  kind: StreamKind,
  duplicateMs = duplicateWindowMs,
): Partial<StreamConfig> & { readonly name: string } => {
  const isQueue = kind === 'cmd' || kind === 'outcome'
  return {
    name: streamName(place, kind),
    subjects: [`${place.prefix}.${kind}.>`],
    storage: StorageType.File,
    num_replicas: place.replicas,
    retention: isQueue ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    // What waits is never thrown away for what comes: whoever sends then is told, and sends again.
    discard: kind === 'alert' ? DiscardPolicy.Old : DiscardPolicy.New,
    max_bytes: waitingBytesMax,
    max_age: kind === 'alert' ? nanos(alertDaysMax * 86_400_000) : 0,
    duplicate_window: nanos(duplicateMs),
  }
}

/** Null: it will do. */
export const objectionTo = (
  place: NatsPlace,
  kind: StreamKind,
  { retention, subjects }: StreamConfig,
): string | null => {
  const wanted = streamConfig(place, kind)
  if (!subjects.includes(wanted.subjects![0]!)) return `it does not take ${wanted.subjects![0]!}`
  return wanted.retention === RetentionPolicy.Workqueue && retention !== RetentionPolicy.Workqueue
    ? 'its retention is not workqueue'
    : null
}

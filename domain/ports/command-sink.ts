import type { taskEither as TE } from 'fp-ts'
import type { Command } from '../planner/command.ts'

export type SinkDown = { readonly type: 'SinkDown'; readonly reason: string; readonly mend?: string }

/** Where commands go. Delivery is at least once: whoever takes one twice acts once. */
export interface CommandSink {
  readonly send: (command: Command) => TE.TaskEither<SinkDown, 'sent' | 'duplicate'>
}

import { taskEither as TE } from 'fp-ts'
import type { CommandSink } from '../../../domain/ports/command-sink.ts'

/**
 * For adapters that ask for their commands over HTTP: whatever is open can be read from the moment that it was issued, so
 * there is nothing to send, and its time runs from then on.
 */
export const askedCommands: CommandSink = { send: () => TE.right('sent') }

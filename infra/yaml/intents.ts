import { basename } from 'node:path'
import { either as E, taskEither as TE } from 'fp-ts'
import { nameObjection } from '../../domain/kernel/ids.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { decodeIntent, intentDecoder } from '../../domain/workload/intent.codec.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import { readDocuments, readDocumentsFile, type FileFault } from './document.ts'

const byName = { of: (intent: WorkloadIntent) => intent.name, path: 'metadata.name' }

/** Every intent of a text, no two of one name. */
export const readIntents = (text: string | Uint8Array): E.Either<ReadonlyArray<Fault>, ReadonlyArray<WorkloadIntent>> =>
  E.chain(some)(readDocuments(text, decodeIntent, byName))

const nothingListed: Fault = {
  path: '$',
  reason: 'there is nothing in the list',
  mend: 'write an intent',
  line: 1,
  column: 1,
}

const some = (intents: ReadonlyArray<WorkloadIntent>): E.Either<ReadonlyArray<Fault>, ReadonlyArray<WorkloadIntent>> =>
  intents.length === 0 ? E.left([nothingListed]) : E.right(intents)

/** The same of a file, `-` for the standard input; an intent without a name is called after its file. */
export const readIntentsFile = (file: string): TE.TaskEither<FileFault, ReadonlyArray<WorkloadIntent>> => {
  const unnamed = basename(file).replace(/\.(ya?ml|json)$/i, '')
  const usable = file !== '-' && nameObjection(unnamed) === null
  const read = readDocumentsFile(file, usable ? intentDecoder(unnamed) : decodeIntent, byName)
  return TE.chainEitherK((intents: ReadonlyArray<WorkloadIntent>) =>
    E.mapLeft((faults: ReadonlyArray<Fault>): FileFault => ({ type: 'DocumentRefused', file, faults }))(some(intents)),
  )(read)
}

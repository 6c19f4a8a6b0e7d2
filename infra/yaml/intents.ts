import { basename } from 'node:path'
import { either as E, taskEither as TE } from 'fp-ts'
import { nameObjection } from '../../domain/kernel/ids.ts'
import type { Decode } from '../../domain/kernel/document.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { isMap } from '../../domain/kernel/wording.ts'
import { decodeIntent, intentDecoder } from '../../domain/workload/intent.codec.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import { readDocuments, readDocumentsFile, type FileFault } from './document.ts'

const byName = { of: (intent: WorkloadIntent) => intent.name, path: 'metadata.name' }

/** Every intent of a text, no two of one name. */
export const readIntents = (text: string | Uint8Array): E.Either<ReadonlyArray<Fault>, ReadonlyArray<WorkloadIntent>> =>
  E.chain(some)(readDocuments(text, decodeNamed, byName))

const nothingListed: Fault = {
  path: '$',
  reason: 'there is nothing in the list',
  mend: 'write an intent',
  line: 1,
  column: 1,
}

const some = (intents: ReadonlyArray<WorkloadIntent>): E.Either<ReadonlyArray<Fault>, ReadonlyArray<WorkloadIntent>> =>
  intents.length === 0 ? E.left([nothingListed]) : E.right(intents)

const isNothing = (value: unknown): boolean => value === undefined || value === null

/** What has no file to be called after has to say what it is called. */
const decodeNamed: Decode<WorkloadIntent> = (value) => {
  const read = decodeIntent(value)
  if (!isMap(value)) return read
  const { metadata } = value
  const isUnnamed = isNothing(metadata) || (isMap(metadata) && isNothing(metadata['name']))
  return isUnnamed ? E.left([unnamed, ...(E.isLeft(read) ? read.left : [])]) : read
}
const unnamed: Fault = {
  path: 'metadata.name',
  reason: 'is missing',
  mend: 'give the workload a name: only one in a file of its own can be called after the file',
}

/** The same of a file, `-` for the standard input; an intent without a name is called after its file. */
export const readIntentsFile = (file: string): TE.TaskEither<FileFault, ReadonlyArray<WorkloadIntent>> => {
  const called = basename(file).replace(/\.(ya?ml|json)$/i, '')
  const usable = file !== '-' && nameObjection(called) === null
  const read = readDocumentsFile(file, usable ? intentDecoder(called) : decodeNamed, byName)
  return TE.chainEitherK((intents: ReadonlyArray<WorkloadIntent>) =>
    E.mapLeft((faults: ReadonlyArray<Fault>): FileFault => ({ type: 'DocumentRefused', file, faults }))(some(intents)),
  )(read)
}

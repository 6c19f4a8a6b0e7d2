import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as t from 'io-ts'
import { either as E } from 'fp-ts'
import { cacheFolder } from './cache.ts'

const serverCodec = t.readonly(
  t.type({
    name: t.string,
    version: t.string,
    /** What it is reached by, by what is spoken there. */
    urls: t.readonly(t.record(t.string, t.string)),
    /** Null: a container's, and Docker's to know. */
    process: t.union([t.null, t.readonly(t.type({ pid: t.number, start: t.union([t.null, t.string]) }))]),
    folder: t.union([t.null, t.string]),
  }),
)
const stateCodec = t.readonly(t.type({ version: t.literal(1), servers: t.readonlyArray(serverCodec) }))

/** A server as `stack.json` has it, for whoever wants to reach it. */
export type StackServer = t.TypeOf<typeof serverCodec>

/** `LEASEHOLD_STACK`, or `stack` in the cache. */
export const stackFolder = (): string => process.env['LEASEHOLD_STACK'] ?? join(cacheFolder(), 'stack')

const stateFile = (folder: string): string => join(folder, 'stack.json')

/** The servers that were brought up there, whether or not they still run; none where nothing readable says so. */
export const stackServers = (folder: string): ReadonlyArray<StackServer> => {
  try {
    const state = stateCodec.decode(JSON.parse(readFileSync(stateFile(folder), 'utf8')))
    return E.isRight(state) ? state.right.servers : []
  } catch {
    return []
  }
}

/** Sorted by name; there whole or not at all. It is for its owner alone to read: urls may hold passwords. */
export const saveServers = (folder: string, servers: ReadonlyArray<StackServer>): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const sorted = [...servers].sort((a, b) => (a.name < b.name ? -1 : 1))
  const next = `${stateFile(folder)}.new`
  writeFileSync(next, `${JSON.stringify({ version: 1, servers: sorted }, null, 2)}\n`, { mode: 0o600 })
  renameSync(next, stateFile(folder))
}

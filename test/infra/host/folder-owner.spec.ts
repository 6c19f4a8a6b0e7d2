import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterEach, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { claimFolder, ownerFile, ownerOf, type FolderClaim } from '../../../infra/host/folder-owner.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folderFor = tempFolder()
const as = { address: null, since: 1_767_225_600_000 as EpochMs, version: '0.2.0', what: 'up' }
const claimed = (folder: string, given: Partial<typeof as> = {}): FolderClaim => {
  const claim = claimFolder(folder, { ...as, ...given })
  if (E.isLeft(claim)) throw new Error(claim.left.reason)
  return claim.right
}
const address = 'http://127.0.0.1:7878'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
/** A process that does nothing until it is killed. */
const sleeper = async (): Promise<number> => {
  const child = fork('-e', [], { execArgv: ['-e', 'setInterval(() => {}, 1e6); process.send(1)', '--'] })
  children.push(child)
  await once(child, 'message')
  return child.pid!
}
const startOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[21]!
const onLinux = existsSync('/proc/self/stat')
const written = (folder: string, owner: object): void => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(ownerFile(folder), JSON.stringify({ ...as, start: null, ...owner }))
}

it('should be told by a file that this user alone can read, and be nobody once it is given back', () => {
  const folder = join(folderFor(), 'made', 'with its parents')
  const claim = claimed(folder)
  expect(ownerOf(folder)).toMatchObject({ ...as, pid: process.pid })
  expect(statSync(ownerFile(folder)).mode & 0o777).toBe(0o600)
  expect(claim.announce(address)).toEqual(E.right(undefined))
  expect(ownerOf(folder)).toMatchObject({ ...as, address })
  expect(readdirSync(folder)).toEqual(['owner.json'])
  claim.release()
  expect(ownerOf(folder)).toBeNull()
  expect(readdirSync(folder)).toEqual([])
})

it('should say who holds it, since when and where', () => {
  const folder = folderFor()
  claimed(folder).announce(address)
  const refused = claimFolder(folder, { ...as, what: 'submit' })
  expect(refused).toMatchObject({ left: { type: 'LogUnavailable', kind: 'locked', owner: { pid: process.pid } } })
  const { reason, mend } = E.isLeft(refused) ? refused.left : { reason: '', mend: '' }
  expect(reason).toBe(
    `${folder} is held by \`leasehold up\`, process ${process.pid}, at ${address}, since 2026-01-01T00:00:00.000Z`,
  )
  expect(mend).toBe('stop it, or name another folder with --data')
})

it('should respect a process that lives, and take over from one that was killed', async () => {
  const folder = folderFor()
  const pid = await sleeper()
  written(folder, { pid })
  expect(claimFolder(folder, as)).toMatchObject({ left: { kind: 'locked', owner: { pid } } })
  const gone = once(children[0]!, 'exit')
  children[0]!.kill('SIGKILL')
  await gone
  expect(ownerOf(folder)).toBeNull()
  claimed(folder)
  expect(ownerOf(folder)).toMatchObject({ pid: process.pid })
})

it('should not take another process of the same number for the owner', async ({ skip }) => {
  if (!onLinux) skip('only Linux tells when a process began')
  const folder = folderFor()
  const pid = await sleeper()
  written(folder, { pid, start: startOf(pid) })
  expect(E.isLeft(claimFolder(folder, as))).toBe(true)
  written(folder, { pid, start: '1' })
  expect(ownerOf(folder)).toBeNull()
  claimed(folder)
})

it.each([
  ['nothing', ''],
  ['half of it', '{"pid": 1, "sta'],
  ['something else', '[]'],
  ['a number that no process has', JSON.stringify({ ...as, pid: 4_000_000_000, start: null })],
  ['an instant beyond the calendar', JSON.stringify({ ...as, pid: 1, start: null, since: 9e15 })],
])('should take over a file that says %s', (_, text) => {
  const folder = folderFor()
  writeFileSync(ownerFile(folder), text)
  expect(ownerOf(folder)).toBeNull()
  claimed(folder)
  expect(ownerOf(folder)).toMatchObject({ pid: process.pid })
})

it('should notice that the folder is somebody else’s by now, and leave that alone', async () => {
  const folder = folderFor()
  const claim = claimed(folder)
  const pid = await sleeper()
  written(folder, { pid })
  expect(claim.announce(address)).toMatchObject({ left: { kind: 'locked', owner: { pid } } })
  claim.release()
  expect(ownerOf(folder)).toMatchObject({ pid })
})

it('should say what is in the way of writing it', () => {
  const folder = folderFor()
  writeFileSync(join(folder, 'file'), '')
  expect(claimFolder(join(folder, 'file', 'data'), as)).toMatchObject({
    left: { type: 'LogUnavailable', kind: 'input-output', mend: 'name a folder that can be written with --data' },
  })
  expect(ownerOf(join(folder, 'file', 'data'))).toBeNull()
})

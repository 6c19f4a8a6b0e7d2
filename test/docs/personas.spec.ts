import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsIn, terminalSession } from './terminal-session.ts'

const pages = readdirSync('docs/personas').sort()

/** One demo for all pages: they ask it, and change nothing of it. */
const demo = terminalSession()
beforeAll(() => {
  const { status, stderr } = demo.run('npx leasehold demo')
  expect({ status, stderr }).toMatchObject({ status: 0 })
})
afterAll(() => demo.close())

it('should have a page for everybody who uses it', () => {
  expect(pages).toEqual(['adapter.md', 'analyst.md', 'auditor.md', 'platform-lead.md', 'researcher.md', 'sre.md'])
})

it('should have other workloads and folders on each page, and others than the README', () => {
  const read = [
    readFileSync('README.md', 'utf8'),
    ...pages.map((page) => readFileSync(join('docs', 'personas', page), 'utf8')),
  ]
  const used = read
    .map((text) => [
      ...new Set(
        commandsIn(text).flatMap((line) => {
          const [, file] = /leasehold submit (\S+)/.exec(line) ?? []
          const [, data] = /--data (\S+)/.exec(line) ?? []
          return [file, data === '.leasehold/demo' ? undefined : data].filter((each) => each !== undefined)
        }),
      ),
    ])
    .flat()
  expect(used.length).toBeGreaterThan(7)
  expect(used.toSorted()).toEqual([...new Set(used)].toSorted())
})

/** One folder for all of them: whoever follows one page may follow the next. */
const session = terminalSession()
beforeAll(async () => {
  await session.up('--speed', '100')
  mkdirSync(join(session.folder, '.leasehold'), { recursive: true })
  symlinkSync(join(demo.folder, '.leasehold', 'demo'), join(session.folder, '.leasehold', 'demo'))
})
afterAll(() => session.close())

describe.each(pages)('the commands of %s', (page) => {
  const commands = commandsIn(readFileSync(join('docs', 'personas', page), 'utf8'))

  it.each(commands)('should work: %s', async (command) => {
    if (command.startsWith('npx leasehold up')) {
      await session.up(...command.split(' ').slice(3))
      return
    }
    const { status, stderr, stdout } = session.run(command)
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('error') as string })
    if (!/--out |> /.test(command)) expect(stdout).not.toBe('')
  })
})

it('should have led the auditor to the same digest', () => {
  const digest = (data: string) => session.run(`npx leasehold audit digest --data .leasehold/${data}`).stdout
  expect(digest('again')).toBe(digest('demo'))
  expect(digest('again')).toMatch(/^[0-9a-f]{64}\n$/)
})

it('should leave a system that stops when it is told to', async () => {
  expect(await session.down()).toBe(0)
})

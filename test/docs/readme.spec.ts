import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { defaultConfiguration, environmentName, type Member } from '../../infra/host/configuration.ts'
import { exitCodes } from '../../services/cli/exit.ts'
import { verbs } from '../../services/cli/program.ts'
import type { Context } from '../../services/cli/session.ts'

const readme = readFileSync('README.md', 'utf8')
const commands = Array.from(readme.matchAll(/^```sh\n([^]*?)^```$/gm), ([, block]) => block!.trim().split('\n')).flat()

/** Commands that something else runs, and what. */
const runElsewhere: { readonly [command: string]: string } = {
  'npm ci && npm run demo': '.ci/run installs; test/services/cli/demo.spec.ts runs the demo',
  'npm ci && npm test': '.ci/run, which is this',
}
const commandsHere = commands.filter((command) => !Object.hasOwn(runElsewhere, command))

const folder = mkdtempSync(join(tmpdir(), 'readme-'))

/** A terminal in which `npx leasehold` is the build of this checkout, without npm's second of thought. */
const inTerminal = (command: string) =>
  spawnSync('sh', ['-c', command.replaceAll('/tmp/', `${folder}/`)], {
    encoding: 'utf8',
    cwd: folder,
    maxBuffer: 64 << 20,
    env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
  })

beforeAll(() => {
  const npx = join(folder, 'npx')
  writeFileSync(npx, `#!/bin/sh\nshift\nexec node '${resolve('dist/services/cli/main.js')}' "$@"\n`)
  chmodSync(npx, 0o755)
  symlinkSync(resolve('docs'), join(folder, 'docs'))
  inTerminal('npx leasehold demo')
})

describe('the commands of the README', () => {
  it('should be there, and those that are not run here should be run elsewhere', () => {
    expect(commandsHere.length).toBeGreaterThan(3)
    for (const command of Object.keys(runElsewhere)) expect(commands).toContain(command)
  })

  it.each(commandsHere)('should work: %s', (command) => {
    const { status, stderr, stdout } = inTerminal(command)
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('error') as string })
    if (!command.includes('--out ')) expect(stdout).not.toBe('')
  })

  it('should work as npx itself runs them', () => {
    const printed = execFileSync('npx', ['leasehold', '--version'], { encoding: 'utf8' })
    expect(printed.trim()).toBe((JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version)
  })
})

describe('the tables of the README', () => {
  const rows = Array.from(readme.matchAll(/^\| (.*) \|$/gm), ([, row]) => row!.split('|').map((cell) => cell.trim()))

  it('should hold every verb', () => {
    const program = new Command()
    for (const register of verbs) register(program, {} as Context)
    const named = rows.map(([verb]) => verb)
    for (const command of program.commands)
      expect(
        named.some((verb) => verb?.startsWith(`\`${command.name()}`)),
        command.name(),
      ).toBe(true)
  })

  it('should hold every exit code', () => {
    const codes = rows.map(([code]) => code)
    for (const code of Object.values(exitCodes)) expect(codes).toContain(String(code))
  })

  it('should hold every member of the configuration with its default', () => {
    for (const [member, value] of Object.entries(defaultConfiguration) as ReadonlyArray<[Member, string]>) {
      const row = rows.find(([name, variable]) => name === `\`${member}\`` && variable?.includes('LEASEHOLD'))
      expect(row?.[1]).toBe(`\`${environmentName(member)}\``)
      expect(row?.[3]).toBe(`\`${value}\``)
    }
  })

  it('should link to pages that are there', () => {
    for (const [, target] of readme.matchAll(/\]\((?!https?:)([^)#]+)/g)) expect(existsSync(target!), target).toBe(true)
  })
})

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultConfiguration, environmentName, type Member } from '../../infra/host/configuration.ts'
import { exitCodes } from '../../services/cli/exit.ts'
import { verbs } from '../../services/cli/program.ts'
import type { Context } from '../../services/cli/session.ts'
import { commandsIn, terminalSession } from './terminal-session.ts'

const readme = readFileSync('README.md', 'utf8')
const commands = commandsIn(readme)

/** Commands that something else runs, and what. */
const runElsewhere: { readonly [command: string]: string } = {
  'npm ci && npm run demo': '.ci/run installs; test/services/cli/demo.spec.ts runs the demo',
  'npm ci && npm test': '.ci/run, which is this',
}
const commandsHere = commands.filter((command) => !Object.hasOwn(runElsewhere, command))

const session = terminalSession()

beforeAll(() => {
  session.run('npx leasehold demo')
})
afterAll(() => session.close())

/** What is said behind `#` is what the command prints, soon if not at once: it is run until it does. */
const promised = (command: string): string | undefined => /# (.+)$/.exec(command)?.[1]
const settled = async (command: string) => {
  const ran = session.run(command)
  const eventually = promised(command)
  for (let i = 0; i < 60 && eventually !== undefined && !ran.stdout.includes(eventually); i++) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    Object.assign(ran, session.run(command))
  }
  return ran
}

describe('the commands of the README', () => {
  it('should be there, and those that are not run here should be run elsewhere', () => {
    expect(commandsHere.length).toBeGreaterThan(3)
    for (const command of Object.keys(runElsewhere)) expect(commands).toContain(command)
  })

  it.each(commandsHere)('should work: %s', async (command) => {
    // What runs until it is stopped is stopped by whoever reads on; another one then starts on what it left.
    if (command.startsWith('npx leasehold up')) {
      expect((await session.down()) ?? 0).toBe(0)
      await session.up(...command.split(' ').slice(3))
      return
    }
    const { status, stderr, stdout } = await settled(command)
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('error') as string })
    if (!command.includes('--out ')) expect(stdout).not.toBe('')
    expect(stdout).toContain(promised(command) ?? '')
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

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { exitCodes, invalidInput, logUnavailable, VerbFailed } from '../../../services/cli/exit.ts'
import { verbs, type Register } from '../../../services/cli/program.ts'
import { verb, type Context } from '../../../services/cli/session.ts'
import { run } from './terminal.ts'

/** A verb that does as it is told. */
const toy: Register = (program, context) => {
  program
    .command('toy <word>')
    .description('do as told')
    .option('--times <n>', 'how often (default: 1)')
    .action(
      verb(context, async (session, word: string, options: { times?: string }) => {
        if (word === 'bug') throw new TypeError('x is not a function\u001b[31m')
        if (word === 'refused') throw new VerbFailed(exitCodes.refused, 'not now')
        if (word === 'invalid')
          throw invalidInput(
            'intent.yaml',
            Array.from({ length: 25 }, (_, i) => ({ path: `spec.a${i}`, reason: 'bad', mend: 'mend it', line: i + 1 })),
          )
        if (word === 'disk')
          throw logUnavailable({ type: 'LogUnavailable', kind: 'full', reason: 'the disk is full', mend: 'free some' })
        await session.printObject({ word, times: options.times ?? null, data: session.configuration.data })
        session.note('said it')
        return word === 'different' ? exitCodes.different : exitCodes.done
      }),
    )
}
const runToy = (words: ReadonlyArray<string>, environment: { readonly [name: string]: string } = {}) =>
  run(words, { verbs: [toy], environment })

describe('options that every verb takes', () => {
  it.each([
    [['toy', 'x', '--data', 'd', '-o', 'json']],
    [['--data', 'd', '-o', 'json', 'toy', 'x']],
    [['--data=d', 'toy', '-ojson', 'x']],
    [['-o', 'json', 'toy', 'x', '--data', 'd']],
  ])('should be taken before and after the verb: %j', async (words) => {
    const { code, stdout, stderr } = await runToy(words)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ word: 'x', times: null, data: 'd' })
    expect(stderr).toBe('said it\n')
  })

  it('should come from the environment, and from a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'program-')), 'c.yaml')
    writeFileSync(file, 'output: csv\ndata: from-file\n')
    expect((await runToy(['toy', 'x', '--config', file], { LEASEHOLD_DATA: 'e' })).stdout).toContain('data,e\r\n')
  })

  it('should be refused with every fault at once', async () => {
    const { code, stderr, stdout } = await runToy(['toy', 'x', '-o', 'xml'], { LEASEHOLD_ORDERING: 'fastest' })
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toBe(
      'error: the configuration is not valid\n' +
        '  --output: "xml" is not valid; give one of table, json, yaml, csv\n' +
        '  LEASEHOLD_ORDERING: "fastest" is not valid; give one of fifo, greedy, reserve\n',
    )
  })

  it('should name the line of a file that is wrong, and miss one that is not there', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'program-')), 'c.yaml')
    writeFileSync(file, '# comment\ncolour: red\n')
    const wrong = await runToy(['toy', 'x', '--config', file])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain(
      `  ${file}:2:1: colour: it is not a member of the configuration; the members are data`,
    )
    const missing = await runToy(['toy', 'x', '--config', `${file}.gone`])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('there is no such file')
  })
})

describe('how a verb ends', () => {
  it.each([
    ['x', 0],
    ['different', 5],
    ['refused', 3],
    ['invalid', 2],
    ['disk', 1],
    ['bug', 1],
  ])('should give %s its exit code %d', async (word, code) => {
    expect((await runToy(['toy', word])).code).toBe(code)
  })

  it.each([
    ['an unknown verb', ['tyo', 'x'], /unknown command 'tyo'/],
    ['an unknown option', ['toy', 'x', '--tims', '2'], /unknown option '--tims'\n\(Did you mean --times\?\)/],
    ['a missing argument', ['toy'], /missing required argument 'word'/],
    ['an argument too many', ['toy', 'x', 'y'], /too many arguments/],
    ['an option without its value', ['toy', 'x', '--times'], /argument missing/],
    ['no verb at all', [], /Usage: leasehold/],
  ])('should call %s a usage error', async (_, words, stderr) => {
    const ran = await runToy(words)
    expect(ran.code).toBe(2)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toMatch(stderr)
  })

  it('should not repeat what a terminal would obey', async () => {
    const { stderr } = await runToy(['\u001b[2Jtoy'])
    expect(stderr).toContain("unknown command 'toy'")
    expect(stderr).not.toContain('\u001b')
  })

  it('should list faults with their places, and no more than a screen of them', async () => {
    const { stderr } = await runToy(['toy', 'invalid'])
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(22)
    expect(lines[0]).toBe('error: intent.yaml is not valid')
    expect(lines[1]).toBe('  intent.yaml:1:1: spec.a0: bad; mend it')
    expect(lines.at(-1)).toBe('  ... and 5 more')
  })

  it('should say of a bug what it is and how to report it, and show its stack only on request', async () => {
    const { stderr } = await runToy(['toy', 'bug'])
    expect(stderr).toMatch(/^error: unexpected: x is not a function\n {2}This is a bug in Leasehold. Please report it/)
    expect(stderr).not.toMatch(/ at .*\.ts/)
    expect((await runToy(['toy', 'bug'], { LEASEHOLD_DEBUG: '1' })).stderr).toMatch(/ at .*program\.spec\.ts/)
  })
})

describe('help', () => {
  const named = (commands: ReadonlyArray<Command>, before: string): ReadonlyArray<string> =>
    commands.flatMap((command) => [
      `${before}${command.name()}`,
      ...named(command.commands, `${before}${command.name()} `),
    ])
  const program = new Command()
  for (const register of verbs) register(program, {} as Context)
  it.each(named(program.commands, ''))('should fit 100 columns for %s', async (name) => {
    const { code, stdout } = await run([...name.split(' '), '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`leasehold ${name}`)
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  it('should list verbs, defaults and exit codes, within 100 columns', async () => {
    const { code, stdout } = await runToy(['--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('toy [options] <word>')
    expect(stdout).toContain('(default: .leasehold)')
    expect(stdout).toMatch(/ordering +LEASEHOLD_ORDERING +default greedy/)
    for (const code of Object.values(exitCodes)) expect(stdout).toMatch(new RegExp(`^ {2}${code} {2,}\\S`, 'm'))
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  })

  it('should show for a verb the options that every verb takes', async () => {
    const { stdout } = await runToy(['toy', '--help'])
    expect(stdout).toContain('--times <n>')
    expect(stdout).toContain('--data <folder>')
  })

  it('should list what this release has', async () => {
    const { stdout } = await run(['--help'])
    for (const name of ['audit', 'doctor', 'log']) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
  })

  it('should print the version of the package', async () => {
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('colour and progress', () => {
  const coloured: Register = (program, context) => {
    program.command('paint').action(
      verb(context, async (session) => {
        const bar = session.progress('working', 10)
        bar.at(5)
        bar.stop()
        await session.printRows([{ job: 'x' }], [{ name: 'job', value: ({ job }) => job, paint: () => 'good' }])
        return exitCodes.done
      }),
    )
  }
  const paint = (columns?: number, environment: { readonly [name: string]: string } = {}) =>
    run(['paint'], { verbs: [coloured], environment, ...(columns === undefined ? {} : { columns }) })

  it('should be for people who watch a terminal, and want it', async () => {
    expect((await paint(80)).stdout).toContain('\u001b[32mx')
    expect((await paint(80)).stderr).toContain('working')
    expect(await paint()).toEqual({ code: 0, stdout: 'JOB\nx\n', stderr: '' })
    expect((await paint(80, { NO_COLOR: '1' })).stdout).not.toContain('\u001b')
    expect((await paint(80, { NO_COLOR: '' })).stdout).toContain('\u001b[32mx')
    expect((await paint(80, { TERM: 'dumb' })).stdout).not.toContain('\u001b')
  })
})

import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { run } from './terminal.ts'

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0

/** What bash offers for a line whose last word is being typed. */
const offeredByBash = async (line: string): Promise<ReadonlyArray<string>> => {
  const { stdout } = await run(['completion', 'bash'])
  const words = line.split(' ')
  const script = `${stdout}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    _leasehold; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { status, stderr, stdout: offered } = spawnSync('bash', ['-c', script], { encoding: 'utf8', cwd: 'docs' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return offered.trim().split('\n')
}

describe.runIf(has('bash'))('completion, where there is bash', () => {
  it('should offer verbs, and those beneath a verb', async () => {
    expect(await offeredByBash('leasehold fl')).toEqual(['fleet'])
    expect(await offeredByBash('leasehold node dr')).toEqual(['drain'])
    expect(await offeredByBash('leasehold audit ')).toEqual(expect.arrayContaining(['head', 'verify', '--data']))
  })

  it('should offer the flags of the verb, and those of every verb', async () => {
    expect(await offeredByBash('leasehold simulate jobs.csv --gp')).toEqual(['--gpus-per-node', '--gpu-jobs-only'])
    expect(await offeredByBash('leasehold --data d queue --d')).toEqual(['--data'])
    expect(await offeredByBash('leasehold up --adapter ')).toEqual(['embedded', 'http', 'none'])
    expect((await run(['completion', '--help'])).stdout).toContain('`npm link`')
  })

  it('should offer values where they are words of a list, and files elsewhere', async () => {
    expect(await offeredByBash('leasehold queue -o ')).toEqual(['table', 'json', 'yaml', 'csv'])
    expect(await offeredByBash('leasehold completion f')).toEqual(['fish'])
    expect(await offeredByBash('leasehold submit inte')).toEqual(['intent.md'])
    expect(await offeredByBash('leasehold simulate --policy poli')).toEqual(['policy.md'])
  })
})

it.each([
  ['zsh', /^#compdef leasehold\n/],
  ['fish', /complete -c leasehold -n '__fish_use_subcommand' -f -a queue -d '[^']+'\n/],
])('should write a script for %s', async (shell, looksLike) => {
  const { code, stdout } = await run(['completion', shell])
  expect(code).toBe(0)
  expect(stdout).toMatch(looksLike)
  if (has(shell)) expect(spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' }).stderr).toBe('')
})

it('should know no other shell', async () => {
  const { code, stderr } = await run(['completion', 'csh'])
  expect(code).toBe(2)
  expect(stderr).toContain('use one of bash, zsh, fish')
})

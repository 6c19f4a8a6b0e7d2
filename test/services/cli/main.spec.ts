import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeSampleLog } from '../../support/sample-log.ts'

const binary = resolve('dist/services/cli/main.js')
const folder = mkdtempSync(join(tmpdir(), 'binary-'))
const data = join(folder, 'data')

/** More than a pipe holds, so that a reader who stops reading stops the writer too. */
beforeAll(() => writeSampleLog(data, 2_000))

const ended = (words: ReadonlyArray<string>, act: (child: ReturnType<typeof spawn>) => void) =>
  new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve) => {
    const child = spawn(process.execPath, [binary, ...words], { cwd: folder })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.on('close', (code, signal) => {
      resolve({ code, signal, stderr })
    })
    act(child)
  })

describe('the built binary', () => {
  it('should run by its own name', () => {
    expect(() => {
      accessSync(binary, constants.X_OK)
    }).not.toThrow()
    const { status, stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' })
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    expect({ status, stdout: stdout.trim() }).toEqual({ status: 0, stdout: version })
  })

  it('should exit with 2 and say so on stderr when it is used wrongly', () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [binary, 'nosuch'], { encoding: 'utf8' })
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain("error: unknown command 'nosuch'")
  })

  it('should write every line through a pipe', () => {
    const command = `'${process.execPath}' '${binary}' log export --data '${data}' | wc -l`
    expect(spawnSync('sh', ['-c', command], { encoding: 'utf8' }).stdout.trim()).toBe('2000')
  })

  it('should say so when its output cannot be written', ({ skip }) => {
    if (!existsSync('/dev/full')) skip('there is no /dev/full')
    const command = `'${process.execPath}' '${binary}' log export --data '${data}' > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^error: cannot write the output: ENOSPC.*\n$/)
  })

  it.each([[['--help']], [['log', 'export', '--data', data]]])(
    'should end in peace when its reader has had enough: %j',
    async (words) => {
      const outcome = await ended(words, (child) => child.stdout?.destroy())
      expect(outcome).toEqual({ code: 0, signal: null, stderr: '' })
    },
  )

  it('should be stopped by an interrupt, which a shell reports as 130', async () => {
    // Nobody reads its output: it waits, until it is interrupted.
    const outcome = await ended(['log', 'export', '--data', data], (child) => {
      child.stdout?.once('readable', () => child.kill('SIGINT'))
    })
    expect(outcome).toEqual({ code: null, signal: 'SIGINT', stderr: '' })
    const script =
      '{ sh -c \'echo $$ > pid; exec "$0" "$@"\' "$0" "$@"; echo $? >&2; } | { sleep 1; kill -INT $(cat pid); cat >/dev/null; }'
    const words = ['-c', script, process.execPath, binary, 'log', 'export', '--data', data]
    expect(spawnSync('sh', words, { cwd: folder, encoding: 'utf8' }).stderr.trim()).toBe('130')
  })
})

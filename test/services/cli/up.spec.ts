import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { ownerOf } from '../../../infra/host/folder-owner.ts'
import { terminalSession } from '../../docs/terminal-session.ts'
import { unfolded } from './terminal.ts'

const binary = resolve('dist/services/cli/main.js')
const session = terminalSession()
afterAll(() => session.close())

const data = join(session.folder, '.leasehold')
const run = (command: string) => {
  const ran = session.run(command)
  return { ...ran, stderr: unfolded(ran.stderr) }
}
const ask = (words: string) => run(`npx leasehold ${words}`)
const done = (words: string): string => {
  const { status, stderr, stdout } = ask(words)
  expect({ words, status, stderr: status === 0 ? '' : stderr }).toEqual({ words, status: 0, stderr: '' })
  return stdout
}
const soon = async (words: string, text: string): Promise<string> => {
  let stdout = ''
  for (let i = 0; i < 40; i++) {
    stdout = done(words)
    if (stdout.includes(text)) return stdout
    await sleep(250)
  }
  expect(stdout).toContain(text)
  return stdout
}

describe('the first hour with a running system', () => {
  it('should start, and keep a second one from the folder', async () => {
    await session.up()
    const owner = ownerOf(data)
    const { status, stderr } = ask('up --port 0')
    expect(status).toBe(1)
    expect(stderr).toContain('cannot start: .leasehold is held by `leasehold up`')
    expect(stderr).toContain(`process ${owner?.pid}, at ${owner?.address}, since `)
  })

  it('should take one workload that starts and one that waits, and say why', () => {
    expect(done('submit docs/examples/wide-sweep.yaml')).toMatch(
      /^wide-sweep: starts at once, id submit\/wide-sweep, position \d+ of the log\n/,
    )
    expect(done('submit docs/examples/finetune.yaml')).toMatch(
      /^finetune: waits \(WaitingForCapacity\), id submit\/finetune, position \d+ of the log\n/,
    )
    expect(done('submit docs/examples/finetune.yaml')).toContain('recorded before')
    const waited = ask('submit docs/examples/finetune.yaml --wait 0.5')
    expect(waited.status).toBe(3)
    expect(waited.stderr).toMatch(/^finetune has not ended after .*: `leasehold why finetune` says where it stands\.$/m)
    expect(done('why finetune')).toContain('WaitingForCapacity')
    for (const type of ['held', 'HELD', 'WorkloadHeld', 'workloadheld'])
      expect(done(`decisions --type ${type}`)).toMatch(/Held +finetune +WaitingForCapacity/)
    expect(ask('decisions --type helt')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is no "helt"; did you mean Held?') as string,
    })
    expect(JSON.parse(done('queue -o json'))).toMatchObject([{ workload: 'finetune', position: 1 }])
  })

  it('should say of one that no fleet could hold that it is refused, and why', () => {
    const submit =
      "sed -e s/finetune/big/ -e 's/count: 8/count: 64/' docs/examples/finetune.yaml | npx leasehold submit -"
    const { status, stdout } = run(submit)
    expect({ status, stdout }).toEqual({
      status: 3,
      stdout: expect.stringMatching(
        /^big: refused, ExceedsFleet: needs 64 GPUs, [^]*, id\s+submit\/big,\s+position\s+\d+\s+of\s+the\s+log\n$/,
      ) as string,
    })
    expect(run("echo 'spec: { preferred: { count: 1 } }' | npx leasehold submit -")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('metadata.name: is missing; give the workload a name') as string,
    })
    expect(run("echo '[]' | npx leasehold submit -")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is nothing in the list; write an intent') as string,
    })
  })

  it('should move what waits when a node is drained', async () => {
    expect(done('node drain node-0001 --reason patching')).toContain('node-0001 is draining')
    await soon('log wide-sweep', 'evicted, waits again')
    await soon('why finetune', 'finetune runs')
    expect(JSON.parse(done('fleet -o json'))).toMatchObject({ total: { schedulableMilli: 8_000, waiting: 1 } })
  })

  it('should answer in SQL, and tell a query that is wrong from one that is too much', async () => {
    await soon('sql "SELECT count() AS n FROM workloads" -o json', '"n": 3')
    expect(done('rebuild')).toMatch(/^TABLE +ROWS +REBUILT ROWS +HASH +REBUILT HASH +SAME\n/)
    expect(done('ladder -o csv')).toMatch(/^hour_at,covered_ms,installed_gpu_hours/)
    expect(done('sql "SELECT * FROM workloads WHERE workload = \'finetune\'"')).toMatch(/^workload +finetune$/m)
    for (const query of ['SELECT nothing FROM workloads', 'SELEKT 1', 'DROP TABLE workload_rows'])
      expect(ask(`sql "${query}"`)).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(/docs\/views\.md .*`DESCRIBE workloads`/) as string,
      })
    expect(ask('sql "SELECT nothing FROM nowhere"').status).toBe(2)
    expect(ask('sql "DROP TABLE workload_rows"').status).toBe(2)
    expect(ask('sql "SELECT number FROM numbers(100)" --limit 10').status).toBe(3)
  })

  it('should give each kind of failure its exit code, through the system as without it', () => {
    expect(ask('why nosuch').status).toBe(1)
    expect(ask('cancel nosuch').status).not.toBe(0)
    expect(ask('node drain nosuch').status).not.toBe(0)
    expect(ask('queue --queue nosuch').status).toBe(1)
    expect(ask('submit docs/examples/nosuch.yaml').status).toBe(1)
  })

  it('should be checked without being asked', () => {
    expect(done('audit verify')).toMatch(/^ok: /)
    expect(done('replay verify')).toMatch(/^ok: /)
    expect(done('doctor')).toMatch(/owner +ok +up /)
  })

  it('should draw again while somebody watches, and end with 130 at Ctrl-C', async () => {
    const child = spawn(process.execPath, [binary, 'queue', '--watch', '0.2', '-o', 'csv'], { cwd: session.folder })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    while (said.split('needDevices').length < 4) await once(child.stdout, 'data')
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    expect(said).not.toContain('\u001b')
  })

  it('should stop, keep everything, and let verbs open the folder themselves', async () => {
    expect(await session.down()).toBe(0)
    expect(ownerOf(data)).toBeNull()
    expect(done('why wide-sweep')).toContain('waits in queue default')
    expect(done('node ready node-0001')).toContain('node-0001 is ready')
    expect(done('sql "SELECT count() AS n FROM workloads" -o json')).toContain('"n": 3')
    await session.up()
    expect(done('why finetune')).toContain('finetune runs')
  })

  it('should be taken over from when it is killed', async () => {
    const { pid } = ownerOf(data)!
    process.kill(pid, 'SIGKILL')
    while (ownerOf(data) !== null) await sleep(50)
    expect(done('why finetune')).toContain('finetune runs')
    expect(done('cancel finetune --reason "no longer needed"')).toContain('finetune is to end')
    await session.up()
    expect(ownerOf(data)?.pid).not.toBe(pid)
    await soon('sql "SELECT state FROM workloads WHERE workload = \'finetune\'"', 'cancelled')
  })

  it('should say of views that they did not start, or are switched off, and how to have them', async () => {
    const banner = await session.up('--data', 'viewless', '--views', 'http://127.0.0.1:9')
    expect(banner).toMatch(/^ {2}views +none: ClickHouse at http:\/\/127\.0\.0\.1:9 does not answer/m)
    expect(done('facts docs/examples/facts.ndjson --data off')).toContain('recorded')
    const mend =
      'views are switched off here; start `leasehold up` with --views embedded, or set LEASEHOLD_VIEWS=embedded'
    const { status, stderr } = run("LEASEHOLD_VIEWS=none npx leasehold sql 'SELECT 1' --data off")
    expect({ status, stderr }).toEqual({ status: 1, stderr: `error: the views cannot be asked: ${mend}\n` })
  })

  it('should wait for what is in hand when it stops, and abort at a second signal, with 130', () => {
    const script = `node '${binary}' up --port 0 --views none --data aborted > out 2> err & pid=$!
      while ! [ -s out ]; do sleep 0.1; done
      { head -1 docs/examples/facts.ndjson; sleep 30; } | node '${binary}' facts - --data aborted > facts.out 2>&1 & facts=$!
      sleep 3
      kill -INT $pid; sleep 0.5; kill -INT $pid; wait $pid; echo $?
      kill $(jobs -p) 2>/dev/null`
    const { stdout } = spawnSync('bash', ['-c', script], { cwd: session.folder, encoding: 'utf8' })
    expect(stdout.trim()).toBe('130')
    expect(readFileSync(join(session.folder, 'err'), 'utf8')).toContain('press Ctrl-C again to abort')
  })
})

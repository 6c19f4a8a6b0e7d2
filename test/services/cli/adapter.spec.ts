import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from './terminal.ts'

const folder = tempFolder()
const jobs = 'docs/examples/jobs'

describe('adapter', () => {
  it.each([
    [['--jobs', jobs], '--nats: is missing; name a server: nats://127.0.0.1:4222'],
    [['--jobs', jobs, '--nats', 'nats://u:secret@h'], 'everybody on this machine reads a password in a flag'],
    [['--jobs', jobs, '--nats', 'amqp://h'], 'it is not of the form nats://'],
    [['--jobs', 'nowhere', '--nats', 'nats://h'], '--jobs: nowhere is no folder'],
    [['--jobs', jobs, '--nats', 'nats://h', '--fleet', '4'], '--fleet: "4" is no fleet'],
    [['--jobs', jobs, '--nats', 'nats://h', '--fleet', '0x8'], '--fleet: "0x8" is no fleet'],
    [['--jobs', jobs, '--nats', 'nats://h', '--name', ''], '--name: is empty'],
    [['--nats', 'nats://h'], "required option '--jobs <folder>' not specified"],
  ])('should refuse %j', async (words, reason) => {
    const { code, stderr, stdout } = await run(['adapter', ...words])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(reason)
    expect(stderr).not.toContain('secret')
  })

  it('should say in one line that no server answers, and leave its folder to the next', async () => {
    const words = ['adapter', '--jobs', jobs, '--nats', 'nats://127.0.0.1:1?timeout=500', '--data', folder()]
    for (let life = 0; life < 2; life++) {
      const { code, stderr } = await run(words)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^error: cannot start: nats:\/\/127\.0\.0\.1:1 .*see to the server and the network\n$/)
    }
  })
})

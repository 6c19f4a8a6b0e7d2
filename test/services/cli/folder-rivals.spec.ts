import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { ownerOf } from '../../../infra/host/folder-owner.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folderFor = tempFolder()
const rivalsCount = 6
const module = pathToFileURL(resolve('dist/infra/host/folder-owner.js')).href
const as = { address: null, since: 0, version: '0.2.0', what: 'up' }

it('should give a folder to one of many that come at once, and again when that one was killed', async () => {
  const folder = folderFor()
  const script = `import { claimFolder } from ${JSON.stringify(module)}
    process.once('message', () => process.send(claimFolder(${JSON.stringify(folder)}, ${JSON.stringify(as)})._tag))
    setInterval(() => undefined, 1_000_000)
    process.send('ready')`
  for (let round = 0; round < 4; round++) {
    const rivals = Array.from({ length: rivalsCount }, () =>
      fork('-', [], { execArgv: ['--input-type=module', '-e', script, '--'] }),
    )
    await Promise.all(rivals.map((rival) => once(rival, 'message')))
    const answers = rivals.map(async (rival) => ((await once(rival, 'message')) as [string])[0])
    for (const rival of rivals) rival.send('go')
    const tags = await Promise.all(answers)
    expect(tags.filter((tag) => tag === 'Right')).toHaveLength(1)
    expect(ownerOf(folder)?.pid).toBe(rivals[tags.indexOf('Right')]!.pid)
    const gone = rivals.map((rival) => once(rival, 'exit'))
    for (const rival of rivals) rival.kill('SIGKILL')
    await Promise.all(gone)
  }
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fileCheckpoint } from '../../../infra/file/checkpoint.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()

it('should begin before everything, and go on where it was last', async () => {
  const path = join(folder(), 'published')
  expect(await fileCheckpoint(path).load()).toBe(-1)
  for (const position of [0, 7, 1_000_000]) {
    await fileCheckpoint(path).save(position)
    expect(await fileCheckpoint(path).load()).toBe(position)
  }
})

it.each(['', '12', 'x\n', '-3\n'])('should begin before everything where its file holds %j', async (text) => {
  const path = join(folder(), 'published')
  writeFileSync(path, text)
  expect(await fileCheckpoint(path).load()).toBe(-1)
})

it('should not take a file that cannot be read for one that is not there', async () => {
  await expect(fileCheckpoint(folder()).load()).rejects.toThrow('EISDIR')
})

import { open, readFile, rename } from 'node:fs/promises'
import type { Checkpoint } from '../../domain/ports/event-log.ts'

/**
 * In a file of its own, replaced whole. Where it is not there, or is none, nothing has been handled.
 * @param path its folder is there
 */
export const fileCheckpoint = (path: string): Checkpoint => ({
  load: async () => {
    try {
      const text = await readFile(path, 'utf8')
      return /^\d{1,15}\n$/.test(text) ? Number(text) : -1
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return -1
      throw cause
    }
  },
  save: async (position) => {
    const next = `${path}.next`
    const file = await open(next, 'w', 0o600)
    try {
      await file.writeFile(`${position}\n`)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(next, path)
  },
})

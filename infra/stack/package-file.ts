import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A file of the repository by its path in it; what is built has no copy of its own. */
export const packageFile = (path: string): string => {
  const found = ['../../', '../../../'].map((up) => new URL(up + path, import.meta.url)).find((url) => existsSync(url))
  if (found === undefined) throw new Error(`${path} is not in this installation`)
  return fileURLToPath(found)
}

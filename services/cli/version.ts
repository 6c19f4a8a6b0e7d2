import { readFileSync } from 'node:fs'

/** From the package that this file is part of, as source or as built. */
export const version = (): string => {
  for (const up of ['../../package.json', '../../../package.json'])
    try {
      return (JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version: string }).version
    } catch {
      continue
    }
  return 'unknown'
}

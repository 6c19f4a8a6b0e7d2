import { hash } from 'node:crypto'

const tokenMax = 120

/**
 * A name as one token of a subject, of a consumer's name or of a key: letters, digits, dashes and underscores stay, each other
 * byte becomes `=2E`. One that gets too long is told by its hash: what travels has the name in it.
 */
export const tokenOf = (name: string): string => {
  let token = ''
  for (const byte of Buffer.from(name, 'utf8')) {
    const character = String.fromCharCode(byte)
    token += /[A-Za-z0-9_-]/.test(character) ? character : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return token.length <= tokenMax ? token : `=-${hash('sha256', name).slice(0, 32)}`
}

/** `leasehold.cmd.cell-a.slurm.start` */
export const subjectOf = (prefix: string, ...names: ReadonlyArray<string>): string =>
  [prefix, ...names.map(tokenOf)].join('.')

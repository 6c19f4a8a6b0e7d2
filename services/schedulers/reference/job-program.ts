import { accessSync, constants, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { either as E } from 'fp-ts'
import type { Command } from '../../../domain/planner/command.ts'

/** Names that are a file's, and no path's. */
const fileName = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/

/**
 * The command line of a workload's job: the file in `folder` that is called after the workload, else after its class, else
 * `default`. One that ends in `.mjs` is run by node, one without an ending by itself. `Left`: why there is none that can be run.
 */
export const jobProgram = (
  folder: string,
  { class: className, workload }: Pick<Command, 'class' | 'workload'>,
): E.Either<string, ReadonlyArray<string>> => {
  const names = [workload, className, 'default'].filter((name) => fileName.test(name))
  for (const name of names) {
    const script = resolve(join(folder, `${name}.mjs`))
    if (isFile(script)) return E.right([process.execPath, script])
    const program = resolve(join(folder, name))
    if (!isFile(program)) continue
    return mayRun(program) ? E.right([program]) : E.left(`${program} may not be run: chmod +x`)
  }
  return E.left(`there is no job in ${resolve(folder)} that is called ${names.join(', ')}, with .mjs or without`)
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

const mayRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

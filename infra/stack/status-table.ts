import type { ServerState } from './native-stack.ts'
import type { StackServer } from './stack-state.ts'

export interface ServerStatus {
  readonly server: StackServer
  readonly state: ServerState
}

const head = ['SERVER', 'VERSION', 'STATE', 'PID', 'AT']

/** One line for each server, under their headings. */
export const statusTable = (rows: ReadonlyArray<ServerStatus>, shown: (url: string) => string): string => {
  const lines = [
    head,
    ...rows.map(({ server: { name, process, urls, version }, state }) => [
      name,
      version,
      state,
      process === null ? '-' : String(process.pid),
      Object.values(urls).map(shown).join(' '),
    ]),
  ]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}

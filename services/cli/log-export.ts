import { open, rename, rm } from 'node:fs/promises'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import { exportLines } from '../../infra/chain/export.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { fromLog, withLog } from './opened-log.ts'
import { escapeC1Controls } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

interface ExportOptions {
  readonly inputs?: true
  readonly out?: string
}

/** Registers `export` beneath `log`. */
export const registerLogExport: Register = (log, context) => {
  log
    .command('export')
    .description('the whole log as NDJSON: one event on a line, as it is stored, with its hash')
    .option('--inputs', 'only what was seen, not what was decided')
    .option('--out <file>', 'write to a file (default: stdout)')
    .addHelpText('after', '\nThe lines are NDJSON whatever -o says.')
    .action(
      verb(context, (session, { inputs, out }: ExportOptions) =>
        withLog(session, async (log) => {
          // Bytes for a program are exact: the hash is over them. A person's terminal is kept from obeying any of them.
          const onTerminal = out === undefined && session.context.stdout.isTTY === true
          const chunks = async function* (): AsyncGenerator<string> {
            let chunk = ''
            for await (const read of exportLines(log)) {
              const line = fromLog(read)
              if (inputs === true && !isInput((JSON.parse(line) as { message: CellEvent }).message)) continue
              chunk += onTerminal ? `${escapeC1Controls(line)}\n` : `${line}\n`
              if (chunk.length < chunkChars) continue
              yield chunk
              chunk = ''
            }
            if (chunk !== '') yield chunk
          }
          if (out !== undefined) await writeFile(out, chunks())
          else for await (const chunk of chunks()) await session.write(chunk)
          return exitCodes.done
        }),
      ),
    )
}

const chunkChars = 65_536

/** Under another name until it is whole: half an export is never taken for one. */
const writeFile = async (file: string, chunks: AsyncIterable<string>): Promise<void> => {
  const partial = `${file}.partial`
  try {
    const handle = await open(partial, 'w')
    try {
      for await (const chunk of chunks) await handle.write(chunk)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(partial, file)
  } catch (cause) {
    await rm(partial, { force: true }).catch(() => undefined)
    if (cause instanceof VerbFailed) throw cause
    const mend = 'name a file with --out in a folder that is there, can be written and has room'
    throw new VerbFailed(exitCodes.failed, `cannot write ${file}: ${(cause as Error).message}; ${mend}`)
  }
}

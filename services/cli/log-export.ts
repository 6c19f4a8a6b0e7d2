import { open, rename, rm } from 'node:fs/promises'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import { encodeFact } from '../../domain/planner/cloud-event.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { exportLines } from '../../infra/chain/export.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { fromLog, withLog } from './opened-log.ts'
import { escapeC1Controls } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { storedEvents } from './workload-events.ts'

interface ExportOptions {
  readonly inputs?: true
  readonly out?: string
}

/** Registers `export` beneath `log`. */
export const registerLogExport: Register = (log, context) => {
  log
    .command('export')
    .description('the whole log as NDJSON: one event on a line, as it is stored, with its hash')
    .option('--inputs', 'only what was seen, of this cell, as CloudEvents: ready for `leasehold facts`')
    .option('--out <file>', 'write to a file (default: stdout)')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, { inputs, out }: ExportOptions) =>
        withLog(session, async (log) => {
          // Bytes for a program are exact: the hash is over them. A person's terminal is kept from obeying any of them.
          const onTerminal = out === undefined && session.context.stdout.isTTY === true
          const chunks = async function* (): AsyncGenerator<string> {
            let chunk = ''
            for await (const line of inputs === true ? inputLines(session, log) : wholeLines(log)) {
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

const examples = `
The lines are NDJSON whatever -o says. The inputs, taken in their order by an empty log under the
same policy, lead to the same decisions.

Examples:
  leasehold log export --out log.ndjson
  leasehold log export --inputs | leasehold facts - --data another`

async function* wholeLines(log: AuditedLog): AsyncGenerator<string> {
  for await (const read of exportLines(log)) yield fromLog(read)
}

async function* inputLines(session: Session, log: EventLog): AsyncGenerator<string> {
  for await (const { id, message, source } of storedEvents(session, log)) {
    const event = message as unknown as CellEvent
    if (isInput(event)) yield encodeFact({ ...event, id, source })
  }
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

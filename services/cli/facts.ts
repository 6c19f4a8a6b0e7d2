import { createReadStream } from 'node:fs'
import { counted } from './counted.ts'
import type { JsonObject, Column } from './output.ts'
import { fileUnreadable } from '../../infra/host/file-unreadable.ts'
import type { FactsAnswer } from '../api/desk.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { fileFailed } from './trace-options.ts'

/** Registers `facts`. */
export const registerFacts: Register = (program, context) => {
  program
    .command('facts')
    .argument('<file>', 'NDJSON, one CloudEvent on a line; - for the standard input')
    .description('record what was observed: nodes, jobs, outcomes')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, file: string) =>
        withDesk(session, { claims: 'facts', creates: true }, async (desk) => {
          const answer = await fromDesk(desk.facts(await bytesOf(file)))
          return printAnswer(session, answer)
        }),
      ),
    )
}

/** Opened before anything is sent, so that a file that is not there is told as that. */
const bytesOf = async (file: string): Promise<AsyncIterable<Uint8Array>> => {
  if (file === '-') return process.stdin
  const stream = createReadStream(file)
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => {
      resolve()
    })
    stream.once('error', (cause) => {
      reject(fileFailed(fileUnreadable(file, cause)))
    })
  })
  return stream
}

type Objection = FactsAnswer['objections'][number] & JsonObject

const printAnswer = async (session: Session, answer: FactsAnswer) => {
  const { duplicate, objections, recorded, refused, undecodable, unneeded } = answer
  if (session.style.format === 'table') {
    await session.say(
      `${recorded} recorded, ${duplicate} known already, ${counted(unneeded, 'tick')} with nothing due, ` +
        `${refused} refused, ${undecodable} not to be decoded`,
    )
    if (objections.length > 0) await session.printRows<Objection>(objections, columns)
    if (undecodable > 0) session.note('What could not be decoded is kept: `leasehold dlq list`.')
  } else if (session.style.format === 'csv') await session.printRows(objections, columns)
  else await session.printObject(answer as unknown as JsonObject)
  return undecodable > 0 ? exitCodes.usage : refused > 0 ? exitCodes.refused : exitCodes.done
}

const columns: ReadonlyArray<Column<Objection>> = [
  { name: 'id', value: ({ id }) => id },
  { name: 'outcome', value: ({ outcome }) => outcome, whole: true },
  { name: 'reason', value: ({ reason }) => reason },
]

const examples = `
Exit code ${exitCodes.usage} when a line could not be decoded (it is kept: \`leasehold dlq list\`), ${exitCodes.refused} when a fact was
refused; the others are recorded either way, and sending all of it again changes nothing.

Examples:
  leasehold log export --inputs --data recorded | leasehold facts - --data another
  leasehold facts events.ndjson`

import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

interface FreezeFlags {
  readonly pool?: string
  readonly lift?: true
  readonly reason?: string
}

/** Registers `freeze`. */
export const registerFreeze: Register = (program, context) => {
  program
    .command('freeze')
    .description('start nothing and send no command, at once, until it is lifted; what runs goes on')
    .option('--pool <name>', 'only this pool (default: all)')
    .option('--lift', 'let it go again')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, { lift, pool, reason }: FreezeFlags) =>
        withDesk(session, { claims: 'freeze' }, async (desk) => {
          const frozen = lift !== true
          const ordered = await fromDesk(desk.freeze(pool ?? null, frozen, orderer(reason)))
          const where = pool === undefined ? 'everything' : `pool ${pool}`
          const said = frozen ? `${where} is frozen: nothing starts, no command is sent` : `${where} is let go again`
          return printOrdered(session, { pool: pool ?? null, frozen, ...ordered }, said)
        }),
      ),
    )
}

const examples = `
It is a new version of the policy with \`freeze: true\`, and is recorded as one.

Examples:
  leasehold freeze --reason "switch replaced in row 4"
  leasehold freeze --lift`

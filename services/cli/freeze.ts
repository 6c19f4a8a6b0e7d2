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
    .description('send no more commands, at once; decisions go on and are recorded')
    .option('--pool <name>', 'only those of this pool (default: all)')
    .option('--lift', 'send them again')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, { lift, pool, reason }: FreezeFlags) =>
        withDesk(session, { claims: 'freeze' }, async (desk) => {
          const frozen = lift !== true
          const ordered = await fromDesk(desk.freeze(pool ?? null, frozen, orderer(reason)))
          const whose = pool === undefined ? 'commands' : `commands of pool ${pool}`
          const said = frozen ? `${whose} are frozen` : `${whose} are sent again`
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

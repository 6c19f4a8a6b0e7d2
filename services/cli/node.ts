import type { Command } from 'commander'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { NodeHealth } from '../../domain/planner/cell-event.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Register } from './program.ts'
import { verb, type Context } from './session.ts'
import { numberBetween, refuseFlags } from './trace-options.ts'

interface Change {
  readonly name: string
  readonly health: NodeHealth
  readonly what: string
}
const changes: ReadonlyArray<Change> = [
  { name: 'cordon', health: 'cordoned', what: 'place nothing new there; what runs goes on' },
  { name: 'uncordon', health: 'ready', what: 'place work there again' },
  { name: 'drain', health: 'draining', what: 'place nothing new there, and move away what runs' },
  { name: 'fail', health: 'failed', what: 'it does not work: what ran there runs no longer' },
  { name: 'ready', health: 'ready', what: 'it is whole again (the same as uncordon)' },
]

/** Registers `node` and what may be said of one. */
export const registerNode: Register = (program, context) => {
  const node = program.command('node').description('say of a node or a device whether work may be placed there')
  for (const change of changes) registerChange(node, context, change)
  node.addHelpText('after', examples)
}

interface NodeFlags {
  readonly device?: string
  readonly reason?: string
}

const registerChange = (node: Command, context: Context, { name, health, what }: Change): void => {
  node
    .command(name)
    .argument('<node>', 'its name, as `leasehold fleet` lists it')
    .description(what)
    .option('--device <n>', 'only this device of it')
    .option('--reason <text>', 'why; it is recorded')
    .action(
      verb(context, (session, id: string, { device: text, reason }: NodeFlags) => {
        const faults: Fault[] = []
        const device = numberBetween('--device', text, 0, 1_023, faults) ?? null
        refuseFlags(faults)
        return withDesk(session, { claims: `node ${name}` }, async (desk) => {
          const ordered = await fromDesk(desk.setHealth(id, device, health, orderer(reason)))
          const place = device === null ? id : `${id} device ${device}`
          return printOrdered(session, { node: id, device, health, ...ordered }, `${place} is ${health}`)
        })
      }),
    )
}

const examples = `
Examples:
  leasehold node drain node-0002 --reason "new kernel"
  leasehold node fail node-0002 --device 3
  leasehold node ready node-0002`

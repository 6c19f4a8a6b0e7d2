import { statSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { nameObjection } from '../../domain/kernel/ids.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { describePlace } from '../../infra/nats/place.ts'
import { tokenOf } from '../../infra/nats/subject.ts'
import { startReference, type ReferenceOptions } from '../schedulers/reference/reference-adapter.ts'
import { natsPlace } from './bus-place.ts'
import { exitCodes, VerbFailed, type ExitCode } from './exit.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { finish, untilSignal } from './signals.ts'
import { refuseFlags } from './trace-options.ts'

interface AdapterFlags {
  readonly cell?: string
  readonly name?: string
  readonly fleet?: string
  readonly jobs: string
}

const nameDefault = 'reference'
const fleetDefault = '2x8'
const nodesMax = 1_000
const devicesMax = 1_024

/** Registers `adapter`. */
export const registerAdapter: Register = (program, context) => {
  program
    .command('adapter')
    .description('take commands over NATS and run jobs as processes here, until Ctrl-C (docs/adapters.md)')
    .requiredOption('--jobs <folder>', 'their programs, called after the workload or its class, or default')
    .option('--nats <url>', 'the server that carries commands and outcomes (default: the one configured)')
    .option('--cell <name>', 'the cell whose commands they are (default: the one configured)')
    .option('--name <name>', `whom its commands are addressed to (default: ${nameDefault})`)
    .option('--fleet <nodes>', `NxM: so many nodes are pretended, with so many devices (default: ${fleetDefault})`)
    .addHelpText('after', examples)
    .action(verb(context, (session, flags: AdapterFlags) => run(session, optionsFrom(session, flags))))
}

const examples = `
Jobs are real processes; only the fleet is pretended. They go on when this process ends, however
it does, and are found again when it starts with the same --data and --name. A URL with a password
belongs into LEASEHOLD_NATS. What happens goes to stderr.

Examples:
  leasehold adapter --nats nats://127.0.0.1:4222 --fleet 4x8 --jobs docs/examples/jobs
  leasehold adapter --jobs jobs --cell cell-a --name slurm-lab`

type Options = Omit<ReferenceOptions, 'note'>

const optionsFrom = (session: Session, flags: AdapterFlags): Options => {
  const faults: Fault[] = []
  const { configuration } = session
  const { nats } = configuration
  if (nats === 'none')
    faults.push({ path: '--nats', reason: 'is missing', mend: 'name a server: nats://127.0.0.1:4222' })
  const name = flags.name ?? nameDefault
  const objection = nameObjection(name)
  if (objection !== null) faults.push({ path: '--name', reason: objection, mend: 'give letters, digits and dashes' })
  const [nodes, devices] = fleetIn(flags.fleet ?? fleetDefault, faults)
  if (statSync(flags.jobs, { throwIfNoEntry: false })?.isDirectory() !== true)
    faults.push({ path: '--jobs', reason: `${flags.jobs} is no folder`, mend: 'name the folder of the programs' })
  refuseFlags(faults)
  const folder = join(configuration.data, 'adapters', tokenOf(name))
  return { nats, cell: configuration.cell, name, folder, programs: flags.jobs, nodes: equalNodes(nodes, devices) }
}

const fleetIn = (text: string, faults: Fault[]): readonly [number, number] => {
  const [, nodes, devices] = (/^(\d{1,4})x(\d{1,4})$/.exec(text) ?? []).map(Number)
  if (nodes !== undefined && devices !== undefined && nodes >= 1 && nodes <= nodesMax && devices <= devicesMax)
    return [nodes, devices]
  faults.push({
    path: '--fleet',
    reason: `${JSON.stringify(text)} is no fleet`,
    mend: `give nodes and devices of each, 1x0 to ${nodesMax}x${devicesMax}, such as 4x8`,
  })
  return [1, 0]
}

const run = async (session: Session, options: Options): Promise<ExitCode> => {
  const stop = untilSignal(['SIGINT', 'SIGTERM'])
  const note = (line: string): void => {
    session.note(line)
  }
  const started = await startReference({ ...options, note, troubled: note })
  if (E.isLeft(started)) {
    stop.forget()
    throw new VerbFailed(exitCodes.failed, `cannot start: ${started.left.reason}; ${started.left.mend}`)
  }
  await announce(session, options, started.right.adapter.running.size)
  await finish(session, await stop.next, started.right.stop)
  session.note('stopped; its jobs go on')
  return exitCodes.done
}

const announce = async (session: Session, { cell, folder, name, nodes }: Options, running: number) => {
  const facts = {
    adapter: name,
    cell,
    nats: describePlace(natsPlace(session.configuration)!),
    folder,
    nodes: nodes.length,
    devices: nodes.reduce((sum, node) => sum + node.devices, 0),
    running,
  }
  if (session.style.format !== 'table') await session.printObject(facts)
  else
    await session.write(
      `The adapter ${name} runs.\n\n` +
        (['cell', 'nats', 'folder'] as const).map((key) => `  ${key.padEnd(9)} ${facts[key]}\n`).join('') +
        `  fleet     ${nodes.length} nodes, ${facts.devices} devices\n` +
        `  jobs      ${running} found running\n` +
        `\nCtrl-C stops it; its jobs go on, and are found again.\n`,
    )
}

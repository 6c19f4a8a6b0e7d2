import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { decodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { describePlace } from '../../infra/eventstore/place.ts'
import { defaultConfiguration } from '../../infra/host/configuration.ts'
import { readDocumentFile } from '../../infra/yaml/document.ts'
import { startSystem, type StartFault, type System, type SystemOptions } from '../main.ts'
import { defaultScript, type Pretended } from '../schedulers/embedded/script.ts'
import { exitCodes, VerbFailed, type ExitCode } from './exit.ts'
import { logServer } from './log-place.ts'
import { terminalSafe } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { untilSignal } from './signals.ts'
import { fileFailed, numberBetween, oneOf, refuseFlags } from './trace-options.ts'
import { version } from './version.ts'
import { viewsPlace, withoutPassword } from './views-place.ts'

interface UpFlags {
  readonly allowHost?: string
  readonly clock?: string
  readonly adapter?: string
  readonly nodes?: string
  readonly gpusPerNode?: string
  readonly policy?: string
  readonly seed?: string
  readonly speed?: string
}

const clocks = ['wall', 'events'] as const
const adapters = ['embedded', 'http', 'none'] as const
const nodesDefault = 2
const gpusPerNodeDefault = 8

/** Registers `up`. */
export const registerUp: Register = (program, context) => {
  program
    .command('up')
    .description('run the whole system in this process, until Ctrl-C')
    .option('--host <address>', `listen there (default: ${defaultConfiguration.host})`)
    .option('--port <n>', `and there; 0 for any that is free (default: ${defaultConfiguration.port})`)
    .option('--allow-host <names>', 'names that a request may give as its host beside localhost, with commas between')
    .option('--views <where>', 'embedded, none, or the URL of a ClickHouse server (default: embedded)')
    .option('--clock <clock>', `${clocks.join(', ')}: time goes on by itself, or comes with the facts (default: wall)`)
    .option(
      '--adapter <adapter>',
      `${adapters.join(', ')}: pretend to run jobs, let adapters ask for their commands, or have none (default: embedded)`,
    )
    .option('--nodes <n>', `pretended nodes, where the log has none (default: ${nodesDefault})`)
    .option('--gpus-per-node <m>', `devices of each of them (default: ${gpusPerNodeDefault})`)
    .option('--speed <x>', 'pretended jobs start, run and stop so many times faster (default: 1)')
    .option('--seed <s>', 'of what the pretended jobs do (default: 0)')
    .option('--policy <file>', 'AllocationPolicy document to decide under (default: the one in force)')
    .addHelpText('after', examples)
    .action(
      verb(context, async (session, flags: UpFlags) => {
        const options = await optionsFrom(session, flags)
        return run(session, options)
      }),
    )
}

const examples = `
Every other verb finds it by the data folder, and goes through it while it runs. A second \`up\` on
the same folder says who holds it, and exits with ${exitCodes.failed}. The log of what happens goes to stderr. The
first Ctrl-C (or SIGTERM) finishes what is in hand and stops; another one aborts, with exit code
${exitCodes.interrupted}.

Examples:
  leasehold up
  leasehold up --nodes 4 --speed 60
  leasehold up --adapter http --policy docs/examples/policy.yaml
  leasehold up --adapter none --clock events --data replayed`

const optionsFrom = async (session: Session, flags: UpFlags): Promise<SystemOptions> => {
  const faults: Fault[] = []
  const clock = oneOf('--clock', flags.clock, clocks, faults) ?? 'wall'
  const adapter = oneOf('--adapter', flags.adapter, adapters, faults) ?? 'embedded'
  const nodes = numberBetween('--nodes', flags.nodes, 1, 100_000, faults) ?? nodesDefault
  const gpusPerNode = numberBetween('--gpus-per-node', flags.gpusPerNode, 0, 1_024, faults) ?? gpusPerNodeDefault
  const seed = numberBetween('--seed', flags.seed, 0, 2 ** 32 - 1, faults) ?? defaultScript.seed
  const speedUp = numberBetween('--speed', flags.speed, 0.001, 1_000_000, faults, false) ?? defaultScript.speedUp
  if (adapter !== 'embedded')
    for (const flag of ['nodes', 'gpusPerNode', 'seed', 'speed'] as const)
      if (flags[flag] !== undefined) {
        const path = flag === 'gpusPerNode' ? '--gpus-per-node' : `--${flag}`
        faults.push({
          path,
          reason: 'is about pretended jobs',
          mend: `leave it out, or leave out --adapter ${adapter}`,
        })
      }
  refuseFlags(faults)
  const { configuration } = session
  return {
    folder: configuration.data,
    logServer: logServer(configuration),
    cell: configuration.cell,
    version: version(),
    host: configuration.host,
    port: configuration.port,
    hosts: flags.allowHost?.split(',') ?? [],
    clock,
    adapter: adapterOf(adapter, { script: { ...defaultScript, seed, speedUp }, nodes, gpusPerNode }),
    views: viewsPlace(configuration),
    policy: flags.policy === undefined ? null : await policyFrom(flags.policy),
  }
}

const adapterOf = (adapter: (typeof adapters)[number], pretended: Pretended): SystemOptions['adapter'] =>
  adapter === 'embedded' ? pretended : adapter === 'http' ? 'http' : null

const adapterText = (adapter: SystemOptions['adapter']): string => {
  if (adapter === null) return 'none: commands wait, and never expire'
  return adapter === 'http' ? 'http: adapters ask for their commands' : 'embedded: it pretends to run jobs'
}

const policyFrom = async (file: string): Promise<AllocationPolicy> => {
  const read = await readDocumentFile(file, decodePolicy)()
  if (E.isLeft(read)) throw fileFailed(read.left)
  return read.right
}

const run = async (session: Session, options: SystemOptions): Promise<ExitCode> => {
  const stop = untilSignal(['SIGINT', 'SIGTERM'])
  const started = await startSystem(options)
  if (E.isLeft(started)) {
    stop.forget()
    throw startFailed(started.left)
  }
  const system = started.right
  for (const { mend, reason, what } of system.degraded()) session.note(`degraded: ${what}: ${reason}; ${mend}`)
  await session.write(banner(session, system, options))
  const signal = await stop.next
  session.note(`${signal}: finishing what is in hand; press Ctrl-C again to abort`)
  const abort = (): never => process.exit(exitCodes.interrupted)
  process.once('SIGINT', abort).once('SIGTERM', abort)
  await system.stop()
  process.off('SIGINT', abort).off('SIGTERM', abort)
  session.note('stopped')
  return exitCodes.done
}

const startFailed = ({ mend, reason }: StartFault): VerbFailed =>
  new VerbFailed(exitCodes.failed, `cannot start: ${reason}; ${mend}`)

const banner = (
  session: Session,
  { address, degraded }: System,
  { adapter, clock, folder, logServer }: SystemOptions,
): string => {
  const { configuration } = session
  const line = (name: string, text: string) => `  ${name.padEnd(9)} ${text}\n`
  const viewless = degraded().find(({ what }) => what === 'views')
  const data = session.origins.data === 'default' ? '' : ` --data ${folder}`
  return (
    `Leasehold ${version()} runs.\n\n` +
    line('address', `${address}   (OpenAPI: ${address}/openapi.json)`) +
    line('folder', folder) +
    (logServer == null ? '' : line('log', describePlace(logServer))) +
    line(
      'views',
      viewless === undefined ? withoutPassword(configuration.views) : terminalSafe(`none: ${viewless.reason}`),
    ) +
    line('adapter', adapterText(adapter)) +
    line('clock', clock === 'wall' ? 'wall: time goes on by itself' : 'events: time comes with the facts') +
    `\nTry next, in another terminal:\n` +
    `  leasehold fleet${data}\n` +
    `  leasehold submit docs/examples/intent.yaml${data}\n` +
    `  leasehold queue --watch${data}\n` +
    `\nCtrl-C stops it; what is recorded stays.\n`
  )
}

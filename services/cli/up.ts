import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { decodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { describePlace } from '../../infra/eventstore/place.ts'
import { defaultConfiguration } from '../../infra/host/configuration.ts'
import { describePlace as describeKafka } from '../../infra/kafka/place.ts'
import { describePlace as describeNats } from '../../infra/nats/place.ts'
import { readDocumentFile } from '../../infra/yaml/document.ts'
import { startSystem, type StartFault, type System, type SystemOptions } from '../main.ts'
import { defaultScript, type Pretended } from '../schedulers/embedded/script.ts'
import { kafkaPlace, natsPlace } from './bus-place.ts'
import { exitCodes, VerbFailed, type ExitCode } from './exit.ts'
import { logServer } from './log-place.ts'
import { terminalSafe } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { finish, untilSignal } from './signals.ts'
import { fileFailed, numberBetween, oneOf, refuseFlags } from './trace-options.ts'
import { version } from './version.ts'
import { viewsPlace, withoutPassword } from './views-place.ts'

interface UpFlags {
  readonly allowHost?: string
  readonly clock?: string
  readonly adapter?: string
  readonly adapterName?: string
  readonly nodes?: string
  readonly gpusPerNode?: string
  readonly policy?: string
  readonly seed?: string
  readonly speed?: string
}

const clocks = ['wall', 'events'] as const
const adapters = ['embedded', 'http', 'nats', 'none'] as const
const adapterNameDefault = 'reference'
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
    .option(
      '--nats <where>',
      'none, or the URL of the NATS server for commands, outcomes and questions (default: none)',
    )
    .option('--kafka <where>', 'none, or the URL of the Kafka brokers for facts and decisions (default: none)')
    .option('--clock <clock>', `${clocks.join(', ')}: time goes on by itself, or comes with the facts (default: wall)`)
    .option(
      '--adapter <adapter>',
      `${adapters.join(', ')}: pretend to run jobs, let adapters ask for their commands, send them over NATS, or have none (default: embedded)`,
    )
    .option('--adapter-name <name>', `which adapter commands go to over NATS (default: ${adapterNameDefault})`)
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
  leasehold up --nats nats://127.0.0.1:4222 --adapter nats --adapter-name slurm
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
  const { configuration } = session
  if (adapter === 'nats' && configuration.nats === 'none')
    faults.push({ path: '--adapter', reason: 'names no NATS server', mend: 'add --nats nats://host:4222' })
  if (adapter !== 'nats' && flags.adapterName !== undefined)
    faults.push({ path: '--adapter-name', reason: 'is about adapters over NATS', mend: 'add --adapter nats' })
  refuseFlags(faults)
  return {
    folder: configuration.data,
    logServer: logServer(configuration),
    cell: configuration.cell,
    version: version(),
    host: configuration.host,
    port: configuration.port,
    hosts: flags.allowHost?.split(',') ?? [],
    clock,
    adapter: adapterOf(adapter, { script: { ...defaultScript, seed, speedUp }, nodes, gpusPerNode }, flags),
    nats: natsPlace(configuration),
    kafka: kafkaPlace(configuration),
    views: viewsPlace(configuration),
    policy: flags.policy === undefined ? null : await policyFrom(flags.policy),
  }
}

const adapterOf = (
  adapter: (typeof adapters)[number],
  pretended: Pretended,
  { adapterName = adapterNameDefault }: UpFlags,
): SystemOptions['adapter'] => {
  if (adapter === 'none') return null
  if (adapter === 'nats') return { nats: adapterName }
  return adapter === 'http' ? adapter : pretended
}

const adapterText = (adapter: SystemOptions['adapter']): string => {
  if (adapter === null) return 'none: commands wait, and never expire'
  if (adapter === 'http') return 'http: adapters ask for their commands'
  return 'nats' in adapter ? `nats: commands go to ${adapter.nats}` : 'embedded: it pretends to run jobs'
}

const policyFrom = async (file: string): Promise<AllocationPolicy> => {
  const read = await readDocumentFile(file, decodePolicy)()
  if (E.isLeft(read)) throw fileFailed(read.left)
  return read.right
}

const run = async (session: Session, options: SystemOptions): Promise<ExitCode> => {
  const stop = untilSignal(['SIGINT', 'SIGTERM'])
  const givenUp = new AbortController()
  void stop.next.then(() => {
    givenUp.abort()
  })
  const { lease, lost } = leaseTold(session, givenUp.signal)
  const started = await startSystem({ ...options, lease })
  if (E.isLeft(started)) {
    if (givenUp.signal.aborted) return exitCodes.done
    stop.forget()
    throw startFailed(started.left)
  }
  const system = started.right
  for (const { mend, reason, what } of system.degraded()) session.note(`degraded: ${what}: ${reason}; ${mend}`)
  await session.write(banner(session, system, options))
  const ended = await Promise.race([stop.next, lost])
  stop.forget()
  await finish(session, ended, system.stop)
  session.note('stopped')
  return givenUp.signal.aborted ? exitCodes.done : exitCodes.failed
}

/** Who has the lease of the cell is said; `lost` resolves with what to say when it was ours and is not any more. */
const leaseTold = (session: Session, signal: AbortSignal) => {
  const { cell } = session.configuration
  let lose: (why: string) => void
  const lost = new Promise<string>((resolve) => (lose = resolve))
  const lease: NonNullable<SystemOptions['lease']> = {
    signal,
    waiting: ({ holder }) => {
      session.note(`${holder} decides for ${cell}; waiting until it stops or falls silent`)
    },
    lost: (by) => {
      lose(`${by?.holder ?? 'somebody else'} decides for ${cell} now`)
    },
  }
  return { lease, lost }
}

const startFailed = ({ mend, reason }: StartFault): VerbFailed =>
  new VerbFailed(exitCodes.failed, `cannot start: ${reason}; ${mend}`)

const banner = (
  session: Session,
  { address, degraded }: System,
  { adapter, clock, folder, kafka, logServer, nats }: SystemOptions,
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
    (nats == null ? '' : line('nats', describeNats(nats))) +
    (kafka == null ? '' : line('kafka', describeKafka(kafka))) +
    line('adapter', adapterText(adapter)) +
    line('clock', clock === 'wall' ? 'wall: time goes on by itself' : 'events: time comes with the facts') +
    `\nTry next, in another terminal:\n` +
    `  leasehold fleet${data}\n` +
    `  leasehold submit docs/examples/intent.yaml${data}\n` +
    `  leasehold queue --watch${data}\n` +
    `\nCtrl-C stops it; what is recorded stays.\n`
  )
}

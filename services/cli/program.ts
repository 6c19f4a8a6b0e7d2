import { Command, CommanderError } from 'commander'
import {
  defaultConfiguration,
  defaultFile,
  environmentName,
  outputs,
  type Member,
} from '../../infra/host/configuration.ts'
import { registerAdapter } from './adapter.ts'
import { registerAudit } from './audit.ts'
import { registerCommands } from './commands.ts'
import { registerCompletion } from './completion.ts'
import { registerDecisions } from './decisions.ts'
import { registerDemo } from './demo.ts'
import { registerDoctor } from './doctor.ts'
import { describeBug, describeFailure, exitCodes, exitCodesHelp, VerbFailed, type ExitCode } from './exit.ts'
import { registerImport } from './import.ts'
import { registerLog } from './log.ts'
import { registerPlan } from './plan.ts'
import { registerQueue } from './queue.ts'
import { registerReplay } from './replay.ts'
import { registerSimulate } from './simulate.ts'
import { terminalSafe } from './output.ts'
import type { Context } from './session.ts'
import { version } from './version.ts'
import { registerCancel } from './cancel.ts'
import { registerException } from './exception.ts'
import { registerFacts } from './facts.ts'
import { registerFleet } from './fleet.ts'
import { registerFreeze } from './freeze.ts'
import { registerNode } from './node.ts'
import { registerPolicy } from './policy.ts'
import { registerRebuild } from './rebuild.ts'
import { registerSql } from './sql.ts'
import { registerSubmit } from './submit.ts'
import { registerDlq } from './dlq.ts'
import { registerFragmentation } from './fragmentation.ts'
import { registerLadder } from './ladder.ts'
import { registerUp } from './up.ts'
import { registerWaits } from './waits.ts'
import { registerWhy } from './why.ts'
import { registerDrill } from './drill.ts'
import { registerHold } from './hold.ts'
import { registerPrio } from './prio.ts'
import { registerRelease } from './release.ts'
import { registerShare } from './share.ts'
import { registerWhyPreempted } from './why-preempted.ts'

export type Register = (program: Command, context: Context) => void

/** Every verb, in the order of `--help`. One file per verb enters itself here. */
export const verbs: ReadonlyArray<Register> = [
  registerDemo,
  registerUp,
  registerAdapter,
  registerPlan,
  registerSubmit,
  registerCancel,
  registerHold,
  registerRelease,
  registerWhy,
  registerWhyPreempted,
  registerQueue,
  registerShare,
  registerPrio,
  registerFleet,
  registerDecisions,
  registerCommands,
  registerLog,
  registerLadder,
  registerWaits,
  registerFragmentation,
  registerSql,
  registerRebuild,
  registerNode,
  registerDrill,
  registerFreeze,
  registerPolicy,
  registerException,
  registerFacts,
  registerDlq,
  registerReplay,
  registerAudit,
  registerSimulate,
  registerImport,
  registerDoctor,
  registerCompletion,
]

/** Runs one command line and returns its exit code; what it has to say goes to the context's streams. */
export const runProgram = async (
  words: ReadonlyArray<string>,
  process: Omit<Context, 'ended'>,
  registered: ReadonlyArray<Register> = verbs,
): Promise<ExitCode> => {
  let code: ExitCode = exitCodes.done
  const context: Context = { ...process, ended: (ended) => (code = ended) }
  const program = createProgram(context)
  for (const register of registered) register(program, context)
  try {
    await program.parseAsync(words, { from: 'user' })
    return code
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? exitCodes.done : exitCodes.usage
    if (cause instanceof VerbFailed) {
      context.stderr.write(describeFailure(cause))
      return cause.code
    }
    context.stderr.write(describeBug(cause, context.environment['LEASEHOLD_DEBUG'] === '1'))
    return exitCodes.failed
  }
}

const createProgram = ({ stdout, stderr }: Context): Command => {
  const { data, output } = defaultConfiguration
  return new Command('leasehold')
    .description('Capacity orchestration for GPU fleets: every decision an event that can be explained and replayed.')
    .version(version(), '-V, --version', 'print the version')
    .option('--data <folder>', `folder that holds the log (default: ${data})`)
    .option('--log <where>', 'embedded, or the URL of the EventStoreDB that holds the log (default: embedded)')
    .option('-o, --output <format>', `${outputs.join(', ')} (default: ${output})`)
    .option('--config <file>', `configuration file (default: ${defaultFile} in the working directory, if it is there)`)
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [verb]', 'show what a verb takes')
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => {
        write(text.split('\n').map(terminalSafe).join('\n'))
      },
    })
    .showHelpAfterError('(add --help to see what it takes)')
    .exitOverride()
    .addHelpText('after', configurationHelp + exitCodesHelp)
}

const configurationHelp = `
Configuration: a flag wins over the environment, which wins over the file.
${(Object.keys(defaultConfiguration) as ReadonlyArray<Member>)
  .map(
    (member) => `  ${member.padEnd(10)} ${environmentName(member).padEnd(20)} default ${defaultConfiguration[member]}`,
  )
  .join('\n')}
  config     ${environmentName('config').padEnd(20)} default ${defaultFile}
A policy document wins over the configuration, also where it leaves its own defaults unsaid.
`

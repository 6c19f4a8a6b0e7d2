#!/usr/bin/env node
import { describeBug, describeFailure, exitCodes, VerbFailed } from './exit.ts'
import { runProgram } from './program.ts'

const { argv, env, stderr, stdout } = process

stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // Whoever read our output has seen enough of it (`leasehold ... | head`): that is no failure.
  if (code === 'EPIPE') process.exit(exitCodes.done)
  stderr.write(describeFailure(new VerbFailed(exitCodes.failed, `cannot write the output: ${message}`)))
  process.exit(exitCodes.failed)
})
stderr.on('error', () => undefined) // Nobody is left to tell.
process.on('uncaughtException', (cause) => {
  stderr.write(describeBug(cause, env['LEASEHOLD_DEBUG'] === '1'))
  process.exit(exitCodes.failed)
})

process.exitCode = await runProgram(argv.slice(2), {
  stdout,
  stderr,
  environment: env,
  workingDirectory: process.cwd(),
})

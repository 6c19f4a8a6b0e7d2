#!/usr/bin/env node
import { exitCodes } from './exit.ts'
import { runProgram } from './program.ts'

const { argv, env, stderr, stdout } = process
// Whoever read our output has seen enough of it (`leasehold ... | head`): that is no failure.
for (const stream of [stdout, stderr])
  stream.on('error', (cause: NodeJS.ErrnoException) => {
    process.exit(cause.code === 'EPIPE' ? exitCodes.done : exitCodes.failed)
  })

process.exitCode = await runProgram(argv.slice(2), {
  stdout,
  stderr,
  environment: env,
  workingDirectory: process.cwd(),
})

import type { Command } from 'commander'
import type { Fault } from '../../domain/kernel/fault.ts'
import { exitCodes, type ExitCode } from './exit.ts'
import { untilSignal } from './signals.ts'
import { writingTo, type Session } from './session.ts'
import { numberBetween, refuseFlags } from './trace-options.ts'

const everyDefaultS = 2
const everyMaxS = 86_400

/** What commander gives for `--watch [seconds]`. */
export type WatchFlag = string | true | undefined

export const addWatchFlag = (command: Command): Command =>
  command.option('--watch [seconds]', `again every so many seconds, until Ctrl-C (default: ${everyDefaultS})`)

/**
 * Asks and prints once, or again and again until somebody interrupts it: over the last picture on a terminal, one after
 * another into a file. What fails while it watches ends it, as it ends a verb that asks once.
 */
export const watched = async (
  session: Session,
  flag: WatchFlag,
  print: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> => {
  if (flag === undefined) return print(session)
  const faults: Fault[] = []
  const seconds = numberBetween('--watch', flag === true ? undefined : flag, 0.1, everyMaxS, faults, false)
  refuseFlags(faults)
  const everyMs = (seconds ?? everyDefaultS) * 1000
  const onTerminal = session.context.stdout.isTTY === true
  const interrupted = untilSignal(['SIGINT', 'SIGTERM'])
  try {
    for (;;) {
      let frame = ''
      await print(onTerminal ? writingTo(session, (text) => (frame += text)) : session)
      // Only what is below the new picture is cleared: drawn over the old one, it does not flicker.
      if (onTerminal) await session.write(`\u001b[H${frame.replaceAll('\n', '\u001b[K\n')}\u001b[J`)
      if ((await interrupted.within(everyMs)) !== null) return exitCodes.interrupted
    }
  } finally {
    interrupted.forget()
  }
}

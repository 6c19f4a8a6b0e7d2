import { exitCodes } from './exit.ts'
import type { Session } from './session.ts'

export type Signal = 'SIGINT' | 'SIGTERM'

export interface SignalWait {
  /** The signal, as soon as it comes; null: none within that time. */
  readonly within: (ms: number) => Promise<Signal | null>
  readonly next: Promise<Signal>
  /** From now on a signal does again what it does to any process. */
  readonly forget: () => void
}

/** The first of these signals does not end the process: it is told. Another one does, as it does to any process. */
export const untilSignal = (signals: ReadonlyArray<Signal>): SignalWait => {
  let settle: (signal: Signal) => void
  const next = new Promise<Signal>((resolve) => (settle = resolve))
  const forget = () => {
    for (const signal of signals) process.off(signal, heard)
  }
  const heard = (signal: NodeJS.Signals) => {
    forget()
    settle(signal as Signal)
  }
  for (const signal of signals) process.on(signal, heard)
  return {
    next,
    within: async (ms) => {
      let timer: NodeJS.Timeout | undefined
      const passed = new Promise<null>((resolve) => (timer = setTimeout(resolve, ms, null)))
      return Promise.race([next, passed]).finally(() => {
        clearTimeout(timer)
      })
    },
    forget,
  }
}

/** Ends what runs, and says so with why; a signal meanwhile ends the process at once. */
export const finish = async (session: Session, why: string, stop: () => Promise<void>): Promise<void> => {
  session.note(`${why}: finishing what is in hand; press Ctrl-C again to abort`)
  const abort = (): never => process.exit(exitCodes.interrupted)
  process.once('SIGINT', abort).once('SIGTERM', abort)
  await stop()
  process.off('SIGINT', abort).off('SIGTERM', abort)
}

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

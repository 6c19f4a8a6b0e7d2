import { SingleBar } from 'cli-progress'
import type { Terminal } from './session.ts'

/** How far long work has got. Call `at` as often as you like: it draws a few times a second at most. */
export interface Progress {
  readonly at: (done: number) => void
  readonly stop: () => void
}

/** A bar on stderr where a person is watching; nothing where the output goes to a file or another program. */
export const startProgress = (stderr: Terminal, title: string, total: number): Progress => {
  if (stderr.isTTY !== true) return { at: () => undefined, stop: () => undefined }
  const bar = new SingleBar({
    stream: stderr,
    format: `${title} {bar} {percentage}%  {value}/{total}  {eta_formatted} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    fps: 5,
    // An interrupt stops the process at once: the terminal must then be as it was, with its cursor and its wrapping.
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
    clearOnComplete: true,
    stopOnComplete: false,
  })
  bar.start(total, 0)
  return {
    at: (done) => {
      bar.update(done)
    },
    stop: () => {
      bar.stop()
    },
  }
}

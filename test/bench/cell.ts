import { performance } from 'node:perf_hooks'
import { foldCell } from '../../services/decide/fold.ts'
import { verifyReplay } from '../../services/replay/verify.ts'
import { ratioOf, type Ratio, type Timed } from './ratio.ts'
import { rightOf, stream, type StandardLog } from './standard-log.ts'

/** `JSON.parse` alone over the bodies that the log holds, one by one. */
const parseAlone = async ({ log, events }: StandardLog): Promise<Timed> => {
  const bodies: string[] = []
  for (let from = 0; from < events; from += 10_000)
    for (const message of rightOf(await log.readMessages(stream, from, 10_000)())) bodies.push(JSON.stringify(message))
  return () => {
    const start = performance.now()
    let objects = 0
    for (const body of bodies) if (typeof JSON.parse(body) === 'object') objects++
    if (objects !== events) throw new Error('a body is no object')
    return performance.now() - start
  }
}

const timed = async (work: () => Promise<void>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** SQLite to state, the chain not checked, against `JSON.parse` alone. */
export const benchFold = async (standard: StandardLog): Promise<Ratio> =>
  ratioOf(
    'fold / JSON.parse',
    standard.events,
    () =>
      timed(async () => {
        if (rightOf(await foldCell(standard.log, stream)).size !== standard.events) throw new Error('not all folded')
      }),
    await parseAlone(standard),
  )

/** Every input decided again and every decision compared, against `JSON.parse` alone. */
export const benchReplay = async (standard: StandardLog): Promise<Ratio> =>
  ratioOf(
    'replay verify / JSON.parse',
    standard.events,
    () =>
      timed(async () => {
        if (!rightOf(await verifyReplay(standard.log, stream)).ok) throw new Error('the replay differs')
      }),
    await parseAlone(standard),
  )

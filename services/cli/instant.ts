import type { EpochMs } from '../../domain/kernel/units.ts'
import { exitCodes, VerbFailed } from './exit.ts'

/**
 * `--at` of a verb that reads: `2026-08-14T00:00:00Z`, milliseconds `12523614000`, seconds `12523614s`, or an instant of a
 * trace as the verbs print it, `day 144 22:46:54`.
 */
export const instantFrom = (text: string | undefined, flag = '--at'): EpochMs | null => {
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return Number(text) as EpochMs
  if (/^\d{1,12}s$/.test(text)) return (Number(text.slice(0, -1)) * 1000) as EpochMs
  const ofTrace = /^day (\d{1,7}) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d)$/.exec(text)?.slice(1).map(Number)
  if (ofTrace !== undefined) {
    const [day = 0, hour = 0, minute = 0, second = 0] = ofTrace
    return ((((day * 24 + hour) * 60 + minute) * 60 + second) * 1000) as EpochMs
  }
  const parsed = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : NaN
  if (parsed >= 0) return parsed as EpochMs
  throw new VerbFailed(exitCodes.usage, 'the command line is not valid', [
    {
      path: flag,
      reason: `${JSON.stringify(text.slice(0, 100))} is no instant`,
      mend: 'give 2026-08-14T00:00:00Z, "day 3 04:05:06" of a trace, milliseconds, or seconds with an s behind them',
    },
  ])
}

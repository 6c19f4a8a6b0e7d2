import type { EpochMs } from '../../domain/kernel/units.ts'
import { exitCodes, VerbFailed } from './exit.ts'

/** `--at` of a verb that reads: `2026-08-14T00:00:00Z`, milliseconds `12523614000`, or seconds `12523614s`. */
export const instantFrom = (text: string | undefined): EpochMs | null => {
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return Number(text) as EpochMs
  if (/^\d{1,12}s$/.test(text)) return (Number(text.slice(0, -1)) * 1000) as EpochMs
  const parsed = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : NaN
  if (parsed >= 0) return parsed as EpochMs
  throw new VerbFailed(exitCodes.usage, 'the command line is not valid', [
    {
      path: '--at',
      reason: `${JSON.stringify(text.slice(0, 100))} is no instant`,
      mend: 'give 2026-08-14T00:00:00Z, or milliseconds, or seconds with an s behind them',
    },
  ])
}

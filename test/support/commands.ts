import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Command } from '../../domain/planner/command.ts'

/** A start of one workload on one node, issued now with a minute to be begun in. */
export const commandOf = (workload: string, more: Partial<Command> = {}): Command => {
  const issuedAt = more.issuedAt ?? (Date.now() as EpochMs)
  return {
    command: `${workload}/1/start`,
    verb: 'start',
    cell: 'cell-a',
    workload,
    attempt: 1,
    because: 'admitted',
    issuedAt,
    deadlineAt: (issuedAt + 60_000) as EpochMs,
    graceMs: 30_000 as DurationMs,
    lease: [{ node: 'node-1', devices: [0, 1], milli: 2_000, memoryMib: 0 }],
    team: 'ranking',
    class: 'research',
    estimateMs: null,
    ...more,
  }
}

/** Waits for what comes about by itself. */
export const until = async (holds: () => boolean | Promise<boolean>, waitMaxMs = 20_000): Promise<void> => {
  for (const end = Date.now() + waitMaxMs; !(await holds());) {
    if (Date.now() > end) throw new Error(`it did not come about in ${waitMaxMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

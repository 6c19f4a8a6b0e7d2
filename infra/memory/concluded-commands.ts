import type { SourcedFact } from '../../domain/planner/cloud-event.ts'
import type { ConcludedCommands } from '../../domain/ports/concluded-commands.ts'

/** Remembers the last so many; gone with the process. */
export const memoryConcludedCommands = (keptMax = 16_384): ConcludedCommands => {
  const kept = new Map<string, SourcedFact>()
  return {
    find: (key) => kept.get(key) ?? null,
    keep: (key, told) => {
      kept.set(key, told)
      for (const oldest of kept.keys()) {
        if (kept.size <= keptMax) break
        kept.delete(oldest)
      }
      return Promise.resolve()
    },
  }
}

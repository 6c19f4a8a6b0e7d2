import type { EpochMs } from '../../domain/kernel/units.ts'
import { copiedText, instantText } from '../../projections/explain/wording.ts'
import type { AsOf, DeskFault } from './desk.ts'

/** How things stand at the end is no answer for an instant that lies behind it. Null: the log has got that far. */
export const notYetKnown = (at: AsOf, end: EpochMs): DeskFault | null =>
  at === null || at <= end
    ? null
    : {
        type: 'Invalid',
        faults: [
          {
            path: 'at',
            reason: `nothing is known of ${instantText(at)} yet: the log reaches to ${instantText(end)}`,
            mend: `give at most ${copiedText(end)}, or leave it out`,
          },
        ],
      }

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { either as E } from 'fp-ts'
import { claimFolder, heldBy, ownerOf } from '../../infra/host/folder-owner.ts'
import { systemClock } from '../../infra/host/clock.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { instantText } from '../../projections/explain/wording.ts'
import type { Desk } from '../api/desk.ts'
import { logUnavailable } from './exit.ts'
import { onFolder } from './local-folder.ts'
import { remoteDesk } from './remote-desk.ts'
import { version } from './version.ts'
import type { Session } from './session.ts'

export interface DeskNeeds {
  /** The verb, where it changes something or needs the views, which one process at a time holds; absent: it reads the log. */
  readonly claims?: string
  readonly views?: boolean
  /** Null: it tells of now, which without a running system is the end of the log; absent: it tells of no instant. */
  readonly at?: EpochMs | null
  /** A folder that is not there is made. */
  readonly creates?: boolean
}

/** How long another verb is waited for, and a system that is starting. */
const ownerWaitMaxMs = 15_000
const lookEveryMs = 50

/** With a word on why time does not go on: the answer is of the last event, however long ago that was. */
const tellingOfEnd =
  <A>(session: Session, use: (desk: Desk) => Promise<A>) =>
  async (desk: Desk): Promise<A> => {
    const answer = await use(desk)
    const status = await desk.status()()
    if (session.style.format === 'table' && E.isRight(status))
      session.note(`Nobody runs this folder: that is as of its last event, ${instantText(status.right.now)}.`)
    return answer
  }

/**
 * Lends a desk: that of the running system where one owns the data folder; else one on the folder itself, which is
 * claimed for that moment when something is written.
 */
export const withDesk = async <A>(session: Session, needs: DeskNeeds, use: (desk: Desk) => Promise<A>): Promise<A> => {
  const folder = session.configuration.data
  const until = performance.now() + ownerWaitMaxMs
  for (;;) {
    const owner = ownerOf(folder)
    if (owner !== null && owner.what === 'up' && owner.address !== null) return use(remoteDesk(owner.address))
    const reads = needs.claims === undefined || (needs.creates !== true && !existsSync(folder))
    if (reads && owner?.what !== 'up')
      return onFolder(session, {}, needs.at === null ? tellingOfEnd(session, use) : use)
    if (owner === null) {
      const as = { address: null, since: systemClock.now(), version: version(), what: needs.claims! }
      const claim = claimFolder(folder, as)
      if (E.isRight(claim)) return onFolder(session, needs, use).finally(claim.right.release)
      if (claim.left.kind !== 'locked') throw logUnavailable(claim.left)
    }
    if (performance.now() > until) throw logUnavailable(heldBy(folder, ownerOf(folder)))
    await sleep(lookEveryMs)
  }
}

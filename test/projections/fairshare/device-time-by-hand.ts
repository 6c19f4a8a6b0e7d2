import { isInput, type CellEvent } from '../../../domain/planner/cell-event.ts'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'
import { accountOf } from '../../support/budgets/told-accounts.ts'
import { ToldCell, type Job } from '../../support/budgets/told-cell.ts'

const hourMs = 3_600_000

/** Thousandths of devices x ms leased at each node of the budget tree, by `hour policy path`: from the events alone. */
export const deviceTimeByHand = (cell: string, events: ReadonlyArray<StoredEvent>): ReadonlyMap<string, number> => {
  const told = new ToldCell(cell)
  const sums = new Map<string, number>()
  let policy: string | null = null
  let now = 0
  const pass = (to: number) => {
    while (policy !== null && now < to) {
      const hour = Math.floor(now / hourMs) * hourMs
      const end = Math.min(to, hour + hourMs)
      for (const job of told.jobs.values())
        for (const path of wayOf(told, job)) {
          const key = `${hour} ${policy} ${path}`
          sums.set(key, (sums.get(key) ?? 0) + leasedMilli(told, job) * (end - now))
        }
      now = end
    }
    now = to
  }
  for (const { message } of events) {
    const event = message as unknown as CellEvent
    pass(Math.max(now, event.at))
    if (isInput(event)) told.hear(event)
    else told.follow(event)
    if (event.type === 'PolicyActivated') policy = event.data.hash
  }
  return sums
}

const wayOf = (told: ToldCell, job: Job): ReadonlyArray<string> => {
  const account = accountOf(told, job)
  const names = account === null ? [] : account.split('/')
  return ['', ...names.map((_, i) => names.slice(0, i + 1).join('/'))]
}

const leasedMilli = ({ nodes }: ToldCell, { run }: Job): number =>
  (run?.lease ?? []).reduce((sum, { node, devices, milli }) => {
    const { health, devices: own } = nodes.get(node)!
    return health === 'failed' ? sum : sum + milli * devices.filter((device) => own[device] !== 'failed').length
  }, 0)

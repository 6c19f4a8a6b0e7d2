import type { Loan, QuotaAmounts, QuotaShare } from './quota-share.ts'
import { amountText, coresText, countText, gpusText } from './wording.ts'

/** One queue or cohort in words, with the arithmetic. */
export const quotaLines = (of: QuotaShare): ReadonlyArray<string> => {
  const { fairWeightMilli, kind, node, parent, quotas, running, share, waiting } = of
  const name = `${kind === 'queue' ? 'Queue' : 'Cohort'} ${node}`
  const place = parent === null ? (kind === 'queue' ? ' without a cohort' : '') : ` of the cohort ${parent}`
  const work =
    kind === 'cohort'
      ? '.'
      : `: ${countOf(running)} ${running === 1 ? 'runs' : 'run'}, ${waiting} ${waiting === 1 ? 'waits' : 'wait'}.`
  return [
    `${name}${place}${work}`,
    ...quotas.flatMap((each) => amountLines(of, each)),
    ...(share === null
      ? []
      : [
          `  share      ${share.milli === null ? 'above all that have a weight' : `${share.milli} thousandths`}: what it borrows${share.resource === null ? '' : ` of ${share.resource}`}, of all that could be lent to it, by its weight of ${fairWeightMilli / 1000}; the lowest goes first`,
        ]),
  ]
}

const countOf = (count: number): string => `${count} ${count === 1 ? 'workload' : 'workloads'}`

const amountLines = ({ kind, node, parent }: QuotaShare, amounts: QuotaAmounts): ReadonlyArray<string> => {
  const { accelerator, available, borrowed, borrowingLimit, from, lendingLimit, lent, most, nominal, resource } =
    amounts
  const text = (amount: number) => quotaText(resource, amount)
  const loans = (of: ReadonlyArray<Loan>, told: (loan: Loan) => string) =>
    of.map((loan) => `${text(loan.amount)} ${told(loan)}`).join(', ')
  const atMost = (limit: number | null) => (limit === null ? '' : ` of at most ${text(limit)}`)
  const own =
    kind === 'cohort' && amounts.subtree !== nominal
      ? ` and ${text(amounts.subtree)} with what those below lend it`
      : ''
  return [
    `Of ${accelerator}${resource === 'devices' ? '' : ` (${resource})`} it has ${text(nominal)} of its own${own} and uses ${text(amounts.used)}.`,
    borrowed === 0
      ? '  borrows    nothing'
      : `  borrows    ${text(borrowed)}${atMost(borrowingLimit)}: ${loans(from, (loan) => (loan.node === parent ? `of what is the own of ${loan.node}` : `of ${loan.node}`))}`,
    lent === 0
      ? '  lends      nothing'
      : `  lends      ${text(lent)}${atMost(lendingLimit)}: ${loans(amounts.to, (loan) => (loan.node === parent && node !== parent ? `to those beyond ${loan.node}` : `to ${loan.node}`))}`,
    available < 0
      ? `  more       nothing: it uses ${text(-available)} too much since the quota was cut`
      : `  more       ${text(available)} could start now; ${text(most)} are the most that it could ever hold`,
  ]
}

/** An amount of a resource, with its unit. */
export const quotaText = (resource: string, amount: number): string =>
  resource === 'devices' ? gpusText(amount) : resource === 'cpu' ? coresText(amount) : `${countText(amount)} MiB`

/** The same without it, as tables have it. */
export const quotaAmount = (resource: string, amount: number): string =>
  resource === 'memory' ? countText(amount) : amountText(amount)

/** What fails now and then at present; none of it in calm weather. */
export interface Weather {
  log: boolean
  /** Commands on their way to the adapter come late, twice, or in another order, and answers are lost. */
  sink: boolean
  views: boolean
  /** The adapter's own disk. */
  journal: boolean
}

export const calm = (): Weather => ({ log: false, sink: false, views: false, journal: false })

/**
 * What the planner decides changes from release to release, and yet a log is decided again as it was: each policy that
 * comes into force says by which edition of the rules. That of the first releases is said by saying nothing.
 *
 * In the second a grant that has lapsed is told once, whatever policy states it; who never tolerates eviction is not told
 * apart by a drill; and who cannot shrink is asked to stop.
 */
export const editionFirst = 1
export const editionNow = 2
export type Edition = typeof editionFirst | typeof editionNow

/** How much of something that could go on for ever is tried: by every run of the tests, and by `.ci/nightly`. */
export const scoped = (always: number, nightly: number): number =>
  process.env['LEASEHOLD_NIGHTLY'] === '1' ? nightly : always

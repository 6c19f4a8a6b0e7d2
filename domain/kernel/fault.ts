/**
 * One thing that is wrong with what somebody gave us: where, why, and what to do about it.
 * `path` is like `spec.preferred.count`, or `$` for the whole; `line` and `column` count from 1 where the text is known.
 */
export interface Fault {
  readonly path: string
  readonly reason: string
  readonly mend: string
  readonly line?: number
  readonly column?: number
}

/** `intent.yaml:7:12: spec.preferred.count: 0 is below 1; give a whole number from 1 to 1000000` */
export const describeFault = (fault: Fault, file?: string): string => {
  const at = fault.line === undefined ? '' : `:${fault.line}:${fault.column ?? 1}`
  const place = file === undefined ? (at === '' ? '' : `line ${at.slice(1)}: `) : `${file}${at}: `
  return `${place}${fault.path}: ${fault.reason}; ${fault.mend}`
}

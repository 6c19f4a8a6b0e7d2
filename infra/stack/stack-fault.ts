/** A server could not be had, and what to do about it. */
export interface StackFault {
  readonly type: 'StackFault'
  readonly server: string
  readonly reason: string
  readonly mend: string
}

export const stackFault = (server: string, reason: string, mend: string): StackFault => ({
  type: 'StackFault',
  server,
  reason,
  mend,
})

export const describeStackFault = ({ server, reason, mend }: StackFault): string => `${server}: ${reason}; ${mend}`

/** Why the bus did not take or give something, and what to do about it. What was not taken may be sent again. */
export interface BusUnavailable {
  readonly type: 'BusUnavailable'
  /**
   * No server answers; another server than the one named does; who we are is not known or may not do this; a stream is full, is
   * not there or is not as it has to be; the message is larger than the server takes; the connection has been closed here.
   */
  readonly kind: 'unreachable' | 'other-server' | 'forbidden' | 'full' | 'not-fit' | 'too-large' | 'closed'
  readonly reason: string
  readonly mend: string
}

/** Pauses that somebody can end: the one that is taken now, and all that would follow. */
export class Rest {
  private ended = false
  private wake: () => void = () => undefined

  for(ms: number): Promise<void> {
    if (this.ended) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** For good. */
  end(): void {
    this.ended = true
    this.wake()
  }
}

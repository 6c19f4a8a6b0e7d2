/** A pause that somebody can end. */
export class Rest {
  private end: () => void = () => undefined

  for(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Ends the pause that is taken now, if one is. */
  wake(): void {
    this.end()
  }
}

import type { JsMsg } from 'nats'

/** Messages that somebody works on: the server is told so, often enough that it gives none of them to anybody else. */
export class InHand {
  private readonly messages = new Set<JsMsg>()
  private readonly timer: NodeJS.Timeout
  private empty: () => void = () => undefined

  /** @param ackWaitMs after which the server gives up waiting */
  constructor(ackWaitMs: number) {
    this.timer = setInterval(() => {
      for (const message of this.messages) message.working()
    }, ackWaitMs / 3)
    this.timer.unref()
  }

  add(message: JsMsg): void {
    this.messages.add(message)
  }

  remove(message: JsMsg): void {
    this.messages.delete(message)
    if (this.messages.size === 0) this.empty()
  }

  /** Says nothing more to the server; resolves when nobody works on anything, or after so long. */
  async end(waitMaxMs: number): Promise<void> {
    clearInterval(this.timer)
    if (this.messages.size === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.empty = resolve
      timer = setTimeout(resolve, waitMaxMs)
    })
    clearTimeout(timer)
  }
}

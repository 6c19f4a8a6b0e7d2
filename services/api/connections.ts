import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Which connections have a request in hand. Node counts one that has not said anything yet as busy, and so would wait
 * for it when it stops.
 */
export class Connections {
  private readonly all = new Map<Socket, number>()
  private readonly server: Server

  constructor(server: Server) {
    this.server = server
    server.on('connection', (socket: Socket) => {
      this.all.set(socket, 0)
      socket.once('close', () => this.all.delete(socket))
    })
    server.on('request', ({ socket }, response) => {
      this.count(socket, 1)
      response.once('close', () => {
        this.count(socket, -1)
      })
    })
  }

  /** Takes no new ones, and ends each when it has nothing in hand; those that still have by then, all the same. */
  async close(timeMaxMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve()
      })
    })
    this.endIdle()
    const again = setInterval(() => {
      this.endIdle()
    }, sweepEveryMs)
    const timer = setTimeout(() => {
      for (const socket of this.all.keys()) socket.destroy()
    }, timeMaxMs)
    await closed
    clearInterval(again)
    clearTimeout(timer)
  }

  private endIdle(): void {
    for (const [socket, requests] of this.all) if (requests === 0) socket.destroySoon()
  }

  private count(socket: Socket, by: number): void {
    const requests = this.all.get(socket)
    if (requests !== undefined) this.all.set(socket, requests + by)
  }
}

const sweepEveryMs = 50

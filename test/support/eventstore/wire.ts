import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** What lies between a client and a server: it keeps its port while the server restarts, and can be cut. */
export interface Wire {
  readonly port: number
  /** Every connection ends at once; new ones are let through. */
  readonly cut: () => void
  /** Nothing comes through in either direction until it flows again; no connection ends. */
  readonly stall: () => void
  readonly flow: () => void
  readonly close: () => Promise<void>
}

/** @param target the port that the server has just now */
export const openWire = async (target: () => number): Promise<Wire> => {
  const pairs = new Set<readonly [Socket, Socket]>()
  let stalled = false
  const server = createServer((near) => {
    const far = connect(target(), '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    for (const socket of pair)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          pairs.delete(pair)
          near.destroy()
          far.destroy()
        })
    near.pipe(far)
    far.pipe(near)
    if (stalled) for (const socket of pair) socket.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const each = (work: (socket: Socket) => void): void => {
    for (const pair of [...pairs]) pair.forEach(work)
  }
  const cut = (): void => {
    each((socket) => socket.destroy())
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    stall: () => {
      stalled = true
      each((socket) => socket.pause())
    },
    flow: () => {
      stalled = false
      each((socket) => socket.resume())
    },
    close: () => {
      cut()
      return new Promise((resolve) =>
        server.close(() => {
          resolve()
        }),
      )
    },
  }
}

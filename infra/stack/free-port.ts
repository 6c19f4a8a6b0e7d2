import { createServer } from 'node:net'

/**
 * Ports of the loopback that nobody listens on, all different. Another process may take one before it is used; whoever
 * starts a server on it sees that the server does not come up, or is not its own.
 */
export const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const held = await Promise.all(Array.from({ length: count }, hold))
  await Promise.all(held.map(({ release }) => release()))
  return held.map(({ port }) => port)
}

const hold = (): Promise<{ readonly port: number; readonly release: () => Promise<void> }> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve({
        port,
        release: () =>
          new Promise((released) => {
            server.close(() => {
              released()
            })
          }),
      })
    })
  })

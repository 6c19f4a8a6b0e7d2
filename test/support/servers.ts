import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import { afterAll, describe, it } from 'vitest'
import { kafkaAtHand } from '../../infra/stack/kafka-jars.ts'
import { startKafka, type KafkaOptions } from '../../infra/stack/kafka.ts'
import { natsAtHand, type NatsRelease } from '../../infra/stack/nats-program.ts'
import { startNats, type NatsOptions } from '../../infra/stack/nats.ts'
import type { ServerProcess } from '../../infra/stack/server-process.ts'
import { describeStackFault, type StackFault } from '../../infra/stack/stack-fault.ts'

/** A way to start servers that are a suite's own: stopped, and their data deleted, after it. */
export type Starter<Options> = (options?: Omit<Options, 'folder'>) => Promise<ServerProcess>

/** Runs a suite on real brokers of its own. Where none can be started it is skipped, and says why. */
export const describeOnKafka = async (name: string, suite: (start: Starter<KafkaOptions>) => void): Promise<void> => {
  const kafka = await kafkaAtHand()
  if (E.isLeft(kafka)) skipped(name, kafka.left)
  else
    describe(name, () => {
      suite(starter((folder, options) => startKafka(kafka.right, { ...options, folder })))
    })
}

/** The same on nats-server, as the system packages it or as it is now. */
export const describeOnNats = async (
  release: NatsRelease,
  name: string,
  suite: (start: Starter<NatsOptions>) => void,
): Promise<void> => {
  const nats = await natsAtHand(release)
  if (E.isLeft(nats)) skipped(name, nats.left)
  else
    describe(name, () => {
      suite(starter((folder, options) => startNats(nats.right, { ...options, folder })))
    })
}

const skipped = (name: string, fault: StackFault): void => {
  describe.skip(`${name} (${describeStackFault(fault)})`, () => {
    it('is not run', () => undefined)
  })
}

const starter = <Options>(
  start: (folder: string, options: Omit<Options, 'folder'> | undefined) => TE.TaskEither<StackFault, ServerProcess>,
): Starter<Options> => {
  const started: { readonly server: ServerProcess; readonly folder: string }[] = []
  const stop = (): void => {
    for (const { server } of started)
      try {
        process.kill(server.identity.pid, 'SIGKILL')
      } catch {
        // It is gone.
      }
  }
  process.once('exit', stop)
  afterAll(async () => {
    process.off('exit', stop)
    await Promise.all(started.map(({ server }) => server.kill()))
    for (const { folder } of started.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  return async (options) => {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-server-'))
    const server = await start(folder, options)()
    if (E.isLeft(server)) {
      rmSync(folder, { recursive: true, force: true })
      throw new Error(describeStackFault(server.left))
    }
    started.push({ server: server.right, folder })
    return server.right
  }
}

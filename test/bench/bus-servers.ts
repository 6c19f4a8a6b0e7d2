import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerProcess } from '../../infra/stack/server-process.ts'
import { kafkaAtHand } from '../../infra/stack/kafka-jars.ts'
import { startKafka } from '../../infra/stack/kafka.ts'
import { natsAtHand } from '../../infra/stack/nats-program.ts'
import { startNats } from '../../infra/stack/nats.ts'
import { rightOf } from './standard-log.ts'

export interface BusServers {
  /** host:port */
  readonly broker: string
  /** nats://host:port */
  readonly natsUrl: string
  readonly end: () => Promise<void>
}

/** A broker and a NATS server of the bench's own, as `npm run stack -- up` has fetched and built them. */
export const busServers = async (): Promise<BusServers> => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  const started: ServerProcess[] = []
  const kafka = rightOf(await startKafka(rightOf(await kafkaAtHand()), { folder: join(folder, 'kafka') })())
  started.push(kafka)
  const nats = rightOf(await startNats(rightOf(await natsAtHand('current')), { folder: join(folder, 'nats') })())
  started.push(nats)
  return {
    broker: kafka.launch.urls['kafka']!,
    natsUrl: nats.launch.urls['nats']!,
    end: async () => {
      for (const server of started) await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

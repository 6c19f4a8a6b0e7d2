import { GenericContainer, Wait } from 'testcontainers'

const port = 8_123
const startMaxMs = 300_000

/** A ClickHouse server of its own in a container, for where Docker is: the release that docker-compose.yml names. */
export const startClickHouse = async (): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const container = await new GenericContainer('clickhouse/clickhouse-server:26.3')
    .withEnvironment({ CLICKHOUSE_USER: 'leasehold', CLICKHOUSE_PASSWORD: 'leasehold' })
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forHttp('/ping', port))
    .withStartupTimeout(startMaxMs)
    .start()
  return {
    url: `http://leasehold:leasehold@${container.getHost()}:${container.getMappedPort(port)}`,
    close: async () => {
      await container.stop()
    },
  }
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { parseClickHouseUrl, type ServerPlace } from '../../infra/clickhouse/place.ts'
import { migrations, remembering } from '../../infra/clickhouse/schema/migrations.ts'
import { openViews, type ViewsPlace } from '../../infra/clickhouse/views.ts'
import { findDocker } from '../../infra/stack/docker-stack.ts'
import { startClickHouse } from '../support/clickhouse/container.ts'
import { openHttpDoor } from '../support/clickhouse/http-door.ts'
import { right } from '../support/events.ts'
import { jobTable, viewsContract, type ViewsAt } from './views.contract.ts'

const schema = [migrations[0]!, { name: '0002-job', statements: [jobTable, remembering('job')] }]

const openAt = async (place: ViewsPlace): Promise<ViewsAt> => {
  const views = await right(openViews(place, { migrations: schema, anew: true }))
  return { views, close: views.close }
}

const serverAt = (url: string, database: string): ServerPlace => {
  const place = parseClickHouseUrl(url)
  if (E.isLeft(place)) throw new Error(place.left)
  return { ...place.right, database }
}

/** What is started for a suite is gone after it, and so is its folder. */
const inFolder = async (
  open: (folder: string) => Promise<{ readonly at: ViewsAt; readonly close: () => Promise<void> }>,
): Promise<ViewsAt> => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  const { at, close } = await open(folder)
  return {
    views: at.views,
    close: async () => {
      await at.close()
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

viewsContract('chDB', () =>
  inFolder(async (folder) => ({ at: await openAt({ folder: join(folder, 'views') }), close: () => Promise.resolve() })),
)

viewsContract('the client over HTTPS to a small door before chDB', () =>
  inFolder(async (folder) => {
    const door = await openHttpDoor(join(folder, 'engine'), { tls: true })
    const caFile = join(folder, 'ca.pem')
    writeFileSync(caFile, door.certificate!)
    return { at: await openAt({ ...serverAt(door.url, 'leasehold'), caFile }), close: door.close }
  }),
)

const server = process.env['LEASEHOLD_TEST_CLICKHOUSE_URL']
// Ready for whoever has a server; none can be installed where this is developed, so it is said and not skipped.
if (server !== undefined)
  viewsContract('a ClickHouse server', () => openAt(serverAt(server, `leasehold_test_${process.pid}`)))
else if ((await findDocker()) !== null)
  viewsContract('a ClickHouse server in a container', () =>
    inFolder(async () => {
      const container = await startClickHouse()
      return { at: await openAt(serverAt(container.url, 'leasehold')), close: container.close }
    }),
  )
else
  console.info(
    'not run: the same contract on a ClickHouse server, which LEASEHOLD_TEST_CLICKHOUSE_URL would name, or Docker run',
  )

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openViews, type ViewsPlace } from '../../infra/clickhouse/views.ts'
import { migrations } from '../../infra/clickhouse/schema/migrations.ts'
import { right } from '../support/events.ts'
import { jobTable, viewsContract, type ViewsAt } from './views.contract.ts'

const schema = [migrations[0]!, { name: '0002-job', statements: [jobTable] }]

const openAt = async (place: ViewsPlace): Promise<ViewsAt> => {
  const views = await right(openViews(place, { migrations: schema, anew: true }))
  return { views, close: views.close }
}

viewsContract('chDB', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  const { views, close } = await openAt({ folder: join(folder, 'views') })
  return {
    views,
    close: async () => {
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

const server = process.env['LEASEHOLD_TEST_CLICKHOUSE_URL']
// Ready for whoever has a server; there is none to be installed where this is developed, so it is said and not skipped.
if (server === undefined)
  console.info('not run: the same contract on a ClickHouse server, which LEASEHOLD_TEST_CLICKHOUSE_URL would name')
else {
  const { origin, username, password } = new URL(server)
  const user = username === '' ? 'default' : decodeURIComponent(username)
  const database = `leasehold_test_${process.pid}`
  viewsContract('a ClickHouse server', () =>
    openAt({ url: origin, user, password: decodeURIComponent(password), database }),
  )
}

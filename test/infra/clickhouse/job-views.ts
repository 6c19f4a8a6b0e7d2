import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../../infra/clickhouse/schema/migrations.ts'
import { openViews, type ClickHouseViews } from '../../../infra/clickhouse/views.ts'
import { jobs, jobTable } from '../../contract/views.contract.ts'
import { right } from '../../support/events.ts'

export const schema = [migrations[0]!, { name: '0002-job', statements: [jobTable] }]

/** Views of one table, on chDB in a folder of their own. */
export interface JobViews {
  readonly views: ClickHouseViews
  readonly folder: string
  readonly fill: (rows: number) => Promise<void>
  readonly remove: () => Promise<void>
}

export const openJobs = async (): Promise<JobViews> => {
  const parent = mkdtempSync(join(tmpdir(), 'leasehold-'))
  const folder = join(parent, 'views')
  const views = await right(openViews({ folder }, { migrations: schema }))
  return {
    views,
    folder,
    fill: async (rows) => {
      const made = Array.from({ length: rows }, (_, i) => [`job-${i}`, i, null, i])
      await right(views.write(rows - 1, jobs(...made)))
    },
    remove: async () => {
      await views.close()
      rmSync(parent, { recursive: true, force: true })
    },
  }
}

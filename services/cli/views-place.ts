import { join } from 'node:path'
import type { Configuration } from '../../infra/host/configuration.ts'
import type { ViewsPlace } from '../../infra/clickhouse/views.ts'

/** Where the configuration says that the views are; null: there are to be none. */
export const viewsPlace = ({ data, views }: Configuration): ViewsPlace | null => {
  if (views === 'none') return null
  if (views === 'embedded') return { folder: join(data, 'views') }
  const { origin, password, searchParams, username } = new URL(views)
  return {
    url: origin,
    user: username === '' ? 'default' : decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: searchParams.get('database') ?? 'leasehold',
  }
}

/** Without the password that a URL may hold. */
export const withoutPassword = (url: string): string => url.replace(/^([a-z+]+:\/\/[^:/@]*):.*@/, '$1:***@')

import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { assert } from '../../domain/kernel/decider.ts'
import { parseClickHouseUrl, type ServerPlace } from '../../infra/clickhouse/place.ts'
import type { Configuration } from '../../infra/host/configuration.ts'
import type { ViewsPlace } from '../../infra/clickhouse/views.ts'

/** The server that keeps the views; null: none does. */
export const viewsServer = ({ views }: Configuration): ServerPlace | null => {
  if (views === 'none' || views === 'embedded') return null
  const place = parseClickHouseUrl(views)
  assert(E.isRight(place), 'the configuration has been checked')
  return place.right
}

/** Where the configuration says that the views are; null: there are to be none. */
export const viewsPlace = (configuration: Configuration): ViewsPlace | null =>
  configuration.views === 'embedded' ? { folder: join(configuration.data, 'views') } : viewsServer(configuration)

/** Without the password that a URL may hold. */
export const withoutPassword = (url: string): string => url.replace(/^([a-z+]+:\/\/[^:/@]*):.*@/, '$1:***@')

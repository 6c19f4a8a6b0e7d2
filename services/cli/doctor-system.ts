import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { either as E } from 'fp-ts'
import type { Configuration } from '../../infra/host/configuration.ts'
import { ownerOf } from '../../infra/host/folder-owner.ts'
import { durationText } from '../../projections/explain/wording.ts'
import type { SystemStatus } from '../api/desk.ts'
import { counted } from './counted.ts'
import type { Check } from './doctor.ts'
import { remoteDesk } from './remote-desk.ts'

/** Who owns the folder, and what a running system says of itself. */
export const systemChecks = async (folder: string, configuration: Configuration): Promise<ReadonlyArray<Check>> => {
  const owner = ownerOf(folder)
  const engine = engineCheck(configuration)
  if (owner === null) {
    const detail = 'nobody: verbs open the folder themselves'
    return [{ check: 'owner', status: 'ok', detail, mend: null }, engine]
  }
  const { address, pid, since, version, what } = owner
  const where = address === null ? '' : ` at ${address}`
  const detail = `${what} ${version}, process ${pid}${where}, since ${new Date(since).toISOString()}`
  if (address === null) return [{ check: 'owner', status: 'ok', detail, mend: null }, engine]
  const status = await remoteDesk(address).status()()
  if (E.isRight(status))
    return [{ check: 'owner', status: 'ok', detail, mend: null }, engine, ...statusChecks(status.right)]
  const silent = 'reason' in status.left ? status.left.reason : 'it does not say how it is'
  const mend = `stop process ${pid} and start \`leasehold up\` anew`
  return [{ check: 'owner', status: 'broken', detail: `${detail}; ${silent}`, mend }, engine]
}

const chdbMend = 'run `npm install chdb` (Linux and macOS), or set `views` to the URL of a ClickHouse server'

/** Read from its package alone: to load it takes 250 MB. */
const engineCheck = ({ views }: Configuration): Check => {
  const check = 'chdb'
  if (views !== 'embedded') return { check, status: 'ok', detail: 'not used: see setting views', mend: null }
  try {
    const entry = createRequire(import.meta.url).resolve('chdb')
    return { check, status: 'ok', detail: `chdb ${packageVersion(dirname(entry))}, for the views`, mend: null }
  } catch {
    return { check, status: 'degraded', detail: 'not installed: there are no views', mend: chdbMend }
  }
}

const packageVersion = (folder: string): string => {
  for (let at = folder; at !== dirname(at); at = dirname(at))
    try {
      const { name, version } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as Record<string, string>
      if (name === 'chdb') return version ?? 'of an unknown version'
    } catch {
      continue
    }
  return 'of an unknown version'
}

const modes: { readonly [M in SystemStatus['mode']]: string } = {
  observe: 'observe: nothing is decided',
  advise: 'advise: decisions are recorded, no command is sent',
  automate: 'automate: commands are sent',
  frozen: 'frozen: no command is sent',
  'no-policy': 'no policy is in force: nothing is decided',
}

const statusChecks = (status: SystemStatus): ReadonlyArray<Check> => {
  const { deadLetters, degraded, mode, running, views } = status
  return [
    {
      check: 'commands',
      status: mode === 'frozen' ? 'degraded' : 'ok',
      detail: `${modes[mode]}; adapter ${running?.adapter ?? 'none'}, ${running?.openCommands ?? 0} open, clock ${running?.clock ?? '-'}`,
      mend: mode === 'frozen' ? 'once it is safe: leasehold freeze --lift' : null,
    },
    ...(views === null
      ? []
      : [
          {
            check: 'views',
            status: 'ok' as const,
            detail: `${views.engine ?? views.kind}; ${counted(views.lagEvents, 'event')} behind (${durationText(views.lagMs)})`,
            mend: null,
          },
        ]),
    {
      check: 'dead letters',
      status: deadLetters === 0 ? 'ok' : 'degraded',
      detail: deadLetters === 1 ? '1 waits' : `${deadLetters} wait`,
      mend: deadLetters === 0 ? null : 'leasehold dlq list, then dlq replay or dlq drop',
    },
    ...degraded.map(({ mend, reason, what }): Check => ({ check: what, status: 'degraded', detail: reason, mend })),
  ]
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import { wordsOf } from './cache.ts'
import { freePorts } from './free-port.ts'
import { findProgram, run } from './program.ts'
import { ServerProcess } from './server-process.ts'
import { stackFault, type StackFault } from './stack-fault.ts'

const readyMaxMs = 20_000
const answerMaxMs = 2_000

export const httpAnswers = async (url: string): Promise<boolean> => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerMaxMs) })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}

/** Where `leasehold up` tells its figures unless it is told to do so elsewhere. */
const leasehold = '127.0.0.1:8410'

/** Takes the figures of `leasehold up` and of itself; alerts go to that Alertmanager, where there is one. Its url: `http`. */
export const startPrometheus =
  (folder: string, alertmanager: string | null): TE.TaskEither<StackFault, ServerProcess> =>
  () =>
    startHttp('prometheus', folder, (file, port) => ({
      text: prometheusConfiguration(port, alertmanager),
      args: [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
    }))

/** Keeps alerts for whoever looks; it sends them nowhere. Its url: `http`. */
export const startAlertmanager =
  (folder: string): TE.TaskEither<StackFault, ServerProcess> =>
  () =>
    startHttp('alertmanager', folder, (file, port) => ({
      text: 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n',
      // Without a cluster it opens no other port.
      args: [
        `--config.file=${file}`,
        `--storage.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
    }))

const prometheusConfiguration = (port: number, alertmanager: string | null): string =>
  `global:
  scrape_interval: 5s
  evaluation_interval: 5s
scrape_configs:
  - job_name: leasehold
    static_configs:
      - targets: ['${leasehold}']
  - job_name: prometheus
    static_configs:
      - targets: ['127.0.0.1:${port}']
${
  alertmanager === null
    ? ''
    : `alerting:
  alertmanagers:
    - static_configs:
        - targets: ['${new URL(alertmanager).host}']
`
}`

/** Debian's Alertmanager has a name of its own. */
const programs = { prometheus: ['prometheus'], alertmanager: ['prometheus-alertmanager', 'alertmanager'] } as const

const startHttp = async (
  name: keyof typeof programs,
  folder: string,
  plan: (file: string, port: number) => { readonly text: string; readonly args: ReadonlyArray<string> },
): Promise<E.Either<StackFault, ServerProcess>> => {
  const program = programs[name].map(findProgram).find((path) => path !== null)
  if (program === undefined)
    return E.left(stackFault(name, 'it is not installed', `install it (Debian: ${programs[name][0]})`))
  const [port = 0] = await freePorts(1)
  const file = join(folder, `${name}.yml`)
  const { args, text } = plan(file, port)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(file, text)
  } catch (cause) {
    return E.left(stackFault(name, wordsOf(cause), `see that ${folder} can be written`))
  }
  const version = /version (\d+\.\d+\.\d+)/.exec((await run(program, ['--version'], 30_000)).text)?.[1]
  const http = `http://127.0.0.1:${port}`
  return ServerProcess.start({
    name,
    version: version ?? 'unknown',
    program,
    args,
    folder,
    urls: { http },
    answers: () => httpAnswers(`${http}/-/ready`),
    readyMaxMs,
  })()
}

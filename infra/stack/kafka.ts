import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import { wordsOf } from './cache.ts'
import { freePorts } from './free-port.ts'
import { kafkaVersion, type KafkaInstallation } from './kafka-jars.ts'
import { kafkaProperties, type KafkaSecurity } from './kafka-properties.ts'
import { lastLines, run } from './program.ts'
import { ServerProcess } from './server-process.ts'
import { stackFault, type StackFault } from './stack-fault.ts'

export interface KafkaOptions {
  /** For this broker alone: its data, its configuration, its log. */
  readonly folder: string
  readonly security?: KafkaSecurity
  /** Properties of the broker, over ours. */
  readonly properties?: Readonly<Record<string, string>>
}

const readyMaxMs = 90_000
const formatMaxMs = 60_000

/**
 * Starts a broker on free ports of the loopback. Its urls: `kafka`, where nobody is asked who it is, and `secure` where
 * there is security; both as host:port.
 */
export const startKafka =
  ({ java, jars }: KafkaInstallation, options: KafkaOptions): TE.TaskEither<StackFault, ServerProcess> =>
  async () => {
    const { folder, security = null, properties: more = {} } = options
    const [port = 0, controllerPort = 0, securePort = 0] = await freePorts(3)
    const configuration = join(folder, 'server.properties')
    const dataFolder = join(folder, 'data')
    const logging = join(folder, 'log4j2.properties')
    const keyStore = security?.certificate == null ? null : join(folder, 'key-store.pem')
    try {
      mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
      const layout = { port, controllerPort, securePort, dataFolder, keyStore, security, more }
      writeFileSync(configuration, kafkaProperties(layout), { mode: 0o600 })
      writeFileSync(logging, toStandardOutput)
      if (keyStore !== null && security?.certificate != null)
        writeFileSync(keyStore, security.certificate.key + security.certificate.certificate, { mode: 0o600 })
    } catch (cause) {
      return E.left(stackFault('kafka', wordsOf(cause), `see that ${folder} can be written`))
    }
    const machine = [...small, `-Dlog4j2.configurationFile=file:${logging}`, '-cp', join(jars, '*')]
    const formatted = await format(java, machine, configuration, dataFolder, security)
    if (E.isLeft(formatted)) return formatted
    return ServerProcess.start({
      name: 'kafka',
      version: kafkaVersion,
      program: java,
      args: [...machine, 'kafka.Kafka', configuration],
      folder,
      urls: { kafka: `127.0.0.1:${port}`, ...(security !== null && { secure: `127.0.0.1:${securePort}` }) },
      answers: () => kafkaAnswers(port),
      readyMaxMs,
    })()
  }

/** A heap of half a gigabyte, and of the compiler only what starts quickly. */
const small = ['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true']

const toStandardOutput = `status = warn
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %c{1}: %m%n
`

/** Gives the data its cluster and its users, the first time only. */
const format = async (
  java: string,
  machine: ReadonlyArray<string>,
  configuration: string,
  dataFolder: string,
  security: KafkaSecurity | null,
): Promise<E.Either<StackFault, void>> => {
  if (existsSync(join(dataFolder, 'meta.properties'))) return E.right(undefined)
  // Sixteen bytes; a leading hyphen would be taken for an option.
  const cluster = randomBytes(16).toString('base64url').replace(/^-/, 'x')
  const users = (security?.users ?? []).flatMap(({ name, password }) => [
    '--add-scram',
    `SCRAM-SHA-256=[name=${name},password=${password}]`,
  ])
  const words = ['kafka.tools.StorageTool', 'format', '-t', cluster, '-c', configuration, ...users]
  const { status, text } = await run(java, [...machine, ...words], formatMaxMs)
  if (status === 0) return E.right(undefined)
  return E.left(stackFault('kafka', `its storage was not formatted: ${lastLines(text)}`, `empty ${dataFolder}`))
}

const answerMaxMs = 2_000

/** Which versions of its calls it speaks: the first thing that any client asks, and only a broker answers. */
const apiVersions = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 0xff, 0xff])

export const kafkaAnswers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const done = (answered: boolean): void => {
      socket.destroy()
      resolve(answered)
    }
    socket.setTimeout(answerMaxMs, () => {
      done(false)
    })
    socket.on('error', () => {
      done(false)
    })
    socket.on('close', () => {
      done(false)
    })
    socket.on('connect', () => socket.write(apiVersions))
    // Its length, and the number that we gave the call.
    socket.on('data', (answer) => {
      done(answer.length >= 8 && answer.readInt32BE(4) === 7)
    })
  })

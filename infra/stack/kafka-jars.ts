import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import { cached, cacheFolder } from './cache.ts'
import { packageFile } from './package-file.ts'
import { findProgram, lastLines, run } from './program.ts'
import { stackFault, type StackFault } from './stack-fault.ts'

/** What the pom names. */
export const kafkaVersion = '4.4.0'

/** A Java that can run a broker, and its jars. */
export interface KafkaInstallation {
  readonly java: string
  readonly jars: string
}

const javaMin = 17
const fetchMaxMs = 600_000

const jarsFolder = (): string => join(cacheFolder(), `kafka-${kafkaVersion}`)

/** Tells at once whether a broker can be started without anything being fetched. */
export const kafkaAtHand = async (): Promise<E.Either<StackFault, KafkaInstallation>> => {
  const java = await findJava()
  if (E.isLeft(java)) return java
  const jars = jarsFolder()
  if (existsSync(jars)) return E.right({ java: java.right, jars })
  return E.left(stackFault('kafka', `its jars are not in ${jars}`, 'run `npm run stack -- up kafka` once'))
}

/** The jars are fetched by Maven, from wherever it is configured to, the first time only. */
export const installKafka =
  (say: (line: string) => void): TE.TaskEither<StackFault, KafkaInstallation> =>
  async () => {
    const java = await findJava()
    if (E.isLeft(java)) return java
    const jars = await cached('kafka', jarsFolder(), fetchJars(say))()
    return E.isLeft(jars) ? jars : E.right({ java: java.right, jars: jars.right })
  }

const findJava = async (): Promise<E.Either<StackFault, string>> => {
  const mend = `install a Java runtime of version ${javaMin} or later (Debian: default-jre-headless)`
  const java = findProgram('java')
  if (java === null) return E.left(stackFault('kafka', 'there is no java', mend))
  const { text } = await run(java, ['-version'], 30_000)
  const version = Number(/ version "(\d+)/.exec(text)?.[1] ?? 0)
  if (version >= javaMin) return E.right(java)
  return E.left(stackFault('kafka', `${java} is of version ${version === 0 ? 'unknown' : version}`, mend))
}

const fetchJars =
  (say: (line: string) => void) =>
  (into: string): TE.TaskEither<StackFault, void> =>
  async () => {
    const maven = findProgram('mvn')
    if (maven === null)
      return E.left(stackFault('kafka', 'there is no mvn to fetch its jars', 'install Maven (Debian: maven)'))
    say(`fetching Kafka ${kafkaVersion} by Maven, 45 MB, this once`)
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${into}`]
    const ran = await run(
      maven,
      ['--quiet', '--batch-mode', '--file', packageFile('infra/stack/kafka-pom.xml'), ...goal],
      fetchMaxMs,
    )
    if (ran.status === 0) return E.right(undefined)
    return E.left(
      stackFault('kafka', `Maven fetched no jars: ${lastLines(ran.text)}`, 'see to its network and its settings.xml'),
    )
  }

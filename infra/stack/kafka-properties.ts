/** Who may log in at the listeners that ask for it. */
export interface KafkaUser {
  readonly name: string
  readonly password: string
}

/** A second listener that asks who it is, by PLAIN or SCRAM-SHA-256; over TLS where there is a certificate. */
export interface KafkaSecurity {
  readonly users: ReadonlyArray<KafkaUser>
  /** PEM of a key and its certificate chain; null: the listener speaks in the clear. */
  readonly certificate: { readonly key: string; readonly certificate: string } | null
  /** Users may do only what access control lists allow. Who comes without a name, at the open listener, may do all. */
  readonly restricted: boolean
}

export interface KafkaLayout {
  readonly port: number
  readonly controllerPort: number
  readonly securePort: number | null
  readonly dataFolder: string
  /** Where the key and the certificate lie in one file; null without TLS. */
  readonly keyStore: string | null
  readonly security: KafkaSecurity | null
  /** Over all others, by the name of the property. */
  readonly more: Readonly<Record<string, string>>
}

const mechanisms = ['PLAIN', 'SCRAM-SHA-256']

/** One process that is broker and controller, for development and tests: quick, small, and durable across a kill. */
export const kafkaProperties = (layout: KafkaLayout): string =>
  Object.entries({ ...base(layout), ...alone, ...quick, ...small, ...secured(layout), ...layout.more })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

const base = ({ port, controllerPort, dataFolder }: KafkaLayout): Record<string, string> => ({
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'PLAINTEXT',
  listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
  'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
  'log.dirs': dataFolder,
  // A name that is misspelt is a fault, and no new topic.
  'auto.create.topics.enable': 'false',
})

/** Where there is one broker, one copy has to do. */
const alone: Record<string, string> = {
  'default.replication.factor': '1',
  'min.insync.replicas': '1',
  'offsets.topic.replication.factor': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
}

/** A group forms at once, and a broker that was killed is let in again after two seconds and not after nine. */
const quick: Record<string, string> = {
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '1000',
  'broker.heartbeat.interval.ms': '500',
  'broker.session.timeout.ms': '2000',
  'offsets.topic.num.partitions': '5',
  'transaction.state.log.num.partitions': '5',
  'share.coordinator.state.topic.num.partitions': '5',
}

const small: Record<string, string> = {
  'num.network.threads': '2',
  'num.io.threads': '4',
  'background.threads': '2',
  'log.segment.bytes': '67108864',
  'log.cleaner.dedupe.buffer.size': '16777216',
}

const secured = ({ port, controllerPort, securePort, security, keyStore }: KafkaLayout): Record<string, string> => {
  if (security === null || securePort === null) return {}
  const protocol = keyStore === null ? 'SASL_PLAINTEXT' : 'SASL_SSL'
  const passwords = security.users.map(({ name, password }) => `user_${name}="${password}"`).join(' ')
  return {
    listeners: `PLAINTEXT://127.0.0.1:${port},SECURE://127.0.0.1:${securePort},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},SECURE://127.0.0.1:${securePort}`,
    'listener.security.protocol.map': `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:${protocol}`,
    'listener.name.secure.sasl.enabled.mechanisms': mechanisms.join(','),
    'listener.name.secure.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required ${passwords};`,
    'listener.name.secure.scram-sha-256.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    ...(keyStore !== null && { 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': keyStore }),
    ...(security.restricted && {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    }),
  }
}

import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'

/** A key and a certificate for 127.0.0.1 and localhost that vouches for itself, both in PEM. */
export interface OwnCertificate {
  readonly key: string
  readonly certificate: string
}

/** DER of X.509 version 3, as much of it as one certificate takes: node makes keys and signatures, but no certificates. */
const der = (tag: number, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: ReadonlyArray<Buffer>): Buffer => der(0x30, ...parts)
const oid = (...bytes: ReadonlyArray<number>): Buffer => der(0x06, Buffer.from(bytes))
const octets = (body: Buffer): Buffer => der(0x04, body)
const yes = der(0x01, Buffer.from([0xff]))

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const commonName = oid(0x55, 0x04, 0x03)
const basicConstraints = oid(0x55, 0x1d, 0x13)
const subjectAltName = oid(0x55, 0x1d, 0x11)
const dayMs = 86_400_000

export const ownCertificate = (): OwnCertificate => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('localhost')))))
  const time = (ms: number): Buffer => der(0x18, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')))
  const names = sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = sequence(
    sequence(basicConstraints, yes, octets(sequence(yes))),
    sequence(subjectAltName, octets(names)),
  )
  const now = Date.now()
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(time(now - dayMs), time(now + dayMs)),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey))
  const base64 = sequence(content, ecdsaWithSha256, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    certificate: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

// A second opinion on an exported log: `node verify-export.mjs FILE`. It shares no code with the product.
// Each line is {"position":..,"stream":..,"revision":..,...,"previousHash":"..","hash":".."}, and its hash is the
// SHA-256 of the line without its last member. Prints SIZE:HEAD; exits 1 naming the first line that is wrong.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex')
const members = 'position stream revision version meta message previousHash hash'
const streams = new Map()
let size = 0
let number = 0

const faultOf = (text) => {
  let event
  try {
    event = JSON.parse(text)
  } catch {
    return 'it is not JSON'
  }
  if (Object.keys(event ?? {}).join(' ') !== members) return `its members are not ${members}`
  const ending = `,"hash":"${event.hash}"}`
  if (!text.endsWith(ending)) return 'its hash is not its last member'
  if (sha256(`${text.slice(0, -ending.length)}}`) !== event.hash) return 'its hash is not the hash of its content'
  if (event.position !== size) return `its position is ${event.position}, not ${size}`
  const { count, hash } = streams.get(event.stream) ?? { count: 0, hash: '0'.repeat(64) }
  if (event.revision !== count) return `its revision in ${event.stream} is ${event.revision}, not ${count}`
  if (event.previousHash !== hash) return `it does not follow from the event before it in ${event.stream}`
  streams.set(event.stream, { count: count + 1, hash: event.hash })
  size += 1
  return null
}

const [file, extra] = process.argv.slice(2)
if (file === undefined || extra !== undefined) {
  console.error('usage: node verify-export.mjs FILE')
  process.exit(2)
}
// Lines end at a line feed alone: readline would also end them at U+2028, which JSON may hold as it is.
let rest = ''
const check = (text) => {
  number += 1
  const fault = text === '' ? null : faultOf(text) // An empty line ends a batch in log.ndjson.
  if (fault === null) return
  console.error(`line ${number}: ${fault}`)
  process.exit(1)
}
for await (const chunk of createReadStream(file, 'utf8')) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  lines.forEach(check)
}
if (rest !== '') check(rest)
const sorted = [...streams].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
console.log(`${size}:${sha256(sorted.map(([stream, { count, hash }]) => `${stream} ${count} ${hash}\n`).join(''))}`)

import { wholeGpu } from '../../domain/kernel/units.ts'
import type { LeasePart } from '../../domain/planner/cell-event.ts'
import type { QuotaResource } from '../../domain/policy/quota-policy.ts'

/** Up to here an instant is counted from the start of a trace; later ones are dates. */
const traceUntilMs = 946_684_800_000
/** The end of the year 9999. */
const dateMax = 253_402_300_799_999

/** `2026-08-14 00:00:00 UTC`, or `day 144 22:46:54` of a trace. */
export const instantText = (ms: number): string => {
  if (ms > dateMax) return `${ms} ms`
  if (ms >= traceUntilMs) {
    const iso = isoOf(ms)
    return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
  }
  const seconds = Math.floor(ms / 1000)
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
  return `day ${Math.floor(seconds / 86_400)} ${clock.map((part) => String(part).padStart(2, '0')).join(':')}`
}

/** The same as a flag takes it, up to the millisecond: `2026-08-14T00:00:00.000Z`, or `60000 (milliseconds)` of a trace. */
export const copiedText = (ms: number): string =>
  ms >= traceUntilMs && ms <= dateMax ? isoOf(ms) : `${ms} (milliseconds)`

/** The two largest units that are not zero: `19 d 7 h`, `2 min`, `0 s`. */
export const durationText = (ms: number): string => {
  const seconds = Math.floor(ms / 1000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const told = parts.filter(([amount]) => amount > 0).slice(0, 2)
  if (told.length === 0) return ms > 0 && ms < 1000 ? `${ms} ms` : '0 s'
  return told.map(([amount, unit]) => `${amount} ${unit}`).join(' ')
}

/** Thousandths as devices: `15.5 GPUs`, `1 GPU`. */
export const gpusText = (milli: number): string => {
  const gpus = milli / wholeGpu
  return `${gpus.toLocaleString('en-US', { maximumFractionDigits: 3 })} ${gpus === 1 ? 'GPU' : 'GPUs'}`
}

/** Thousandths of unit-hours as GPU-hours of the reference class: `746`, `16.58`, `7.667`. */
export const gpuHoursText = (milliUnitH: number): string => {
  const hours = milliUnitH / wholeGpu
  return hours.toLocaleString('en-US', { maximumFractionDigits: hours < 10 ? 3 : hours < 100 ? 2 : 0 })
}

/** To three digits behind the point: `1.022`. */
export const ratioText = (part: number, whole: number): string => (part / whole).toFixed(3)

/** The same without the word: `15.5`. */
export const amountText = (milli: number): string => gpusText(milli).replace(/ GPUs?$/, '')

/** `61,440`. */
export const countText = (count: number): string => count.toLocaleString('en-US')

/** Thousandths as cores: `1.5 cores`, `1 core`. */
export const coresText = (milli: number): string =>
  `${(milli / 1000).toLocaleString('en-US', { maximumFractionDigits: 3 })} ${milli === 1000 ? 'core' : 'cores'}`

/** Of an amount of a resource as quota counts it: with its unit, and without. */
export const quotaAmounts: {
  readonly [R in QuotaResource]: Readonly<Record<'unit' | 'bare', (amount: number) => string>>
} = {
  devices: { unit: gpusText, bare: amountText },
  cpu: { unit: coresText, bare: amountText },
  memory: { unit: (mib) => `${countText(mib)} MiB`, bare: countText },
}

/** What is asked for of devices; `milli` is of each, and 0 where their memory decides it. */
export interface Need {
  readonly devices: number
  readonly milli: number
  /** Of each device. */
  readonly memoryMib: number
}

/** `2 GPUs`, `0.25 GPUs`, `61,440 MiB of each of 6 GPUs`, `no GPU`. */
export const needText = ({ devices, milli, memoryMib }: Need): string => {
  if (devices === 0) return 'no GPU'
  if (milli > 0) return gpusText(devices * milli)
  return `${countText(memoryMib)} MiB of ${devices === 1 ? 'one GPU' : `each of ${devices} GPUs`}`
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** Breaks a text at blanks into lines of at most so many characters; the first keeps its margin, others are indented. */
export const wrapped = (text: string, width: number, indent: number): string => {
  const margin = /^ */.exec(text)![0]
  const lines: string[] = []
  let line = ''
  for (const word of text.slice(margin.length).split(' ')) {
    const before = line === '' ? margin : `${line} `
    if (line !== '' && before.length + word.length > width) {
      lines.push(line)
      line = ' '.repeat(indent) + word
    } else line = before + word
  }
  return [...lines, line].join('\n')
}

/** `on node-0001: device 0, 250 thousandths of it` */
export const leaseText = ({ node, devices, milli }: LeasePart): string => {
  const taken =
    devices.length === 0 ? 'CPU and memory' : `${devices.length === 1 ? 'device' : 'devices'} ${devices.join(', ')}`
  return `on ${node}: ${taken}${milli > 0 && milli < wholeGpu ? `, ${milli} thousandths of it` : ''}`
}

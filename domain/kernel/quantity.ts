import { Objection, scalar, type Reader } from './document.ts'
import type { CpuMilli, DurationMs, EpochMs, Mebibytes } from './units.ts'
import { found, shown } from './wording.ts'

/** How durations, amounts and instants are written in a document, and back. */

const msPer = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const
/** Ten years: whatever is longer is a slip of the keyboard. */
export const durationMax = (3650 * msPer.d) as DurationMs
const durationForm = /^(?:(\d{1,15})d)?(?:(\d{1,15})h)?(?:(\d{1,15})m(?!s))?(?:(\d{1,15})s)?(?:(\d{1,15})ms)?$/
/** The same for other languages' regular expressions; it takes no more than that and an empty text. */
const durationPattern = '^([0-9]{1,15}d)?([0-9]{1,15}h)?([0-9]{1,15}m)?([0-9]{1,15}s)?([0-9]{1,15}ms)?$'

/** `90s`, `2h30m`, `600s`, `14h`, `1d12h`, `250ms`: whole numbers, each unit at most once, from large to small. */
export const duration = (minMs: number): Reader<DurationMs> => {
  const expected = `a duration from ${durationText(minMs as DurationMs)} to ${durationText(durationMax)}, such as 90s or 2h30m`
  const schema = { type: 'string', minLength: 2, pattern: durationPattern, description: expected }
  return scalar(expected, schema, (value) => {
    if (typeof value === 'number') return unitless(value, 's')
    if (typeof value !== 'string') return new Objection(`found ${found(value)}`)
    const parts = value === '' ? null : durationForm.exec(value)
    if (parts === null) return new Objection(`${shown(value)} is not a duration`, durationMend(value))
    const [, d = '0', h = '0', m = '0', s = '0', ms = '0'] = parts
    const total = +d * msPer.d + +h * msPer.h + +m * msPer.m + +s * msPer.s + +ms
    if (total > durationMax) return new Objection(`${shown(value)} is above ${durationText(durationMax)}`)
    return total < minMs
      ? new Objection(`${shown(value)} is below ${durationText(minMs as DurationMs)}`)
      : (total as DurationMs)
  })
}

const unitless = (value: number, unit: string): Objection => {
  if (!Number.isFinite(value)) return new Objection(`${value} is not a number that can be counted with`)
  return value < 0
    ? new Objection(`${value} is below 0, and has no unit`)
    : new Objection(`${value} has no unit`, `write it with its unit, such as ${value}${unit}`)
}

const durationMend = (text: string): string => {
  if (/^\d+$/.test(text)) return `write it with its unit, such as ${shown(`${text}s`)}`
  if (text.startsWith('-')) return 'a duration is never negative'
  if (/\d\.\d/.test(text)) return 'use whole numbers: 1h30m, not 1.5h'
  return 'use whole numbers with d, h, m, s or ms, each at most once, from large to small: 2h30m'
}

/** As `duration` reads it. */
export const durationText = (ms: DurationMs): string => {
  let text = ''
  let rest: number = ms
  for (const [unit, size] of Object.entries(msPer)) {
    const whole = Math.floor(rest / size)
    if (whole > 0) text += `${whole}${unit}`
    rest -= whole * size
  }
  return text === '' ? '0s' : text
}

const bytesPer: { readonly [unit: string]: number } = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
}
const bytesPerMib = 2 ** 20
/** 1 Pi. */
export const memoryMaxMib = 2 ** 30

/** `60Gi`, `512Mi`, `80G`: a whole number with a Kubernetes suffix; in MiB, rounded up. */
export const memory = (minMib: number): Reader<Mebibytes> => {
  const expected = `an amount of memory from ${minMib}Mi to ${memoryMaxMib}Mi, such as 60Gi or 512Mi`
  const schema = { type: 'string', pattern: '^[0-9]{1,15}(Ki|Mi|Gi|Ti|k|M|G|T)$', description: expected }
  return scalar(expected, schema, (value) => {
    if (typeof value === 'number') return unitless(value, 'Gi')
    if (typeof value !== 'string') return new Objection(`found ${found(value)}`)
    const [, digits, unit] = /^(\d{1,15})(Ki|Mi|Gi|Ti|k|M|G|T)$/.exec(value) ?? []
    if (digits === undefined || unit === undefined)
      return new Objection(`${shown(value)} is not an amount of memory`, memoryMend(value))
    if (+digits > (memoryMaxMib * bytesPerMib) / bytesPer[unit]!)
      return new Objection(`${shown(value)} is above ${memoryMaxMib}Mi`)
    const mib = Math.ceil((+digits * bytesPer[unit]!) / bytesPerMib)
    return mib < minMib ? new Objection(`${shown(value)} is below ${minMib}Mi`) : (mib as Mebibytes)
  })
}

const memoryMend = (text: string): string => {
  if (/^\d+$/.test(text)) return `write it with its unit, such as ${shown(`${text}Gi`)}`
  if (text.startsWith('-')) return 'an amount is never negative'
  if (/\d\.\d/.test(text)) return 'use whole numbers of a smaller unit: 1536Mi, not 1.5Gi'
  return 'use a whole number with Ki, Mi, Gi, Ti (powers of 1024) or k, M, G, T (powers of 1000): 60Gi'
}

export const memoryText = (mib: Mebibytes): string => `${mib}Mi`

export const cpuMaxMilli = 1_000_000_000

/** `500m`, `4`: thousandths with an m, or whole cores. */
export const cpu = (minMilli: number): Reader<CpuMilli> => {
  const expected = `CPU cores from ${minMilli}m to ${cpuMaxMilli}m, such as 4 or 500m`
  const schema = {
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: '^[0-9]{1,15}m?$' },
    ],
    description: expected,
  }
  return scalar(expected, schema, (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return new Objection(`found ${found(value)}`)
    const [, digits, unit] = /^(\d{1,15})(m?)$/.exec(String(value)) ?? []
    if (digits === undefined)
      return new Objection(
        `${typeof value === 'string' ? shown(value) : value} is not a number of CPU cores`,
        'use whole cores or thousandths: 4, or 500m for half a core',
      )
    const milli = unit === 'm' ? +digits : +digits * 1000
    if (milli > cpuMaxMilli) return new Objection(`${value} is above ${cpuMaxMilli}m`)
    return milli < minMilli ? new Objection(`${value} is below ${minMilli}m`) : (milli as CpuMilli)
  })
}

export const cpuText = (milli: CpuMilli): string => `${milli}m`

/** The last instant that a calendar date can be given for. */
export const instantMax = 8_640_000_000_000_000

const instantForm = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?(?:Z|([+-])(\d{2}):(\d{2}))$/
const instantSchema = { type: 'string', format: 'date-time' }

/** `2026-08-14T00:00:00Z`, `2026-08-14T02:00:00+02:00`: date, time and zone, and a day that exists. */
export const instant: Reader<EpochMs> = scalar('an instant such as "2026-08-14T00:00:00Z"', instantSchema, (value) => {
  if (typeof value !== 'string') return new Objection(`found ${found(value)}`)
  const parts = instantForm.exec(value)
  if (parts === null)
    return new Objection(
      `${shown(value)} is not an instant`,
      'write date, time and zone (Z, or +02:00): "2026-08-14T00:00:00Z"',
    )
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', sign, ...zone] = parts
  const [zoneHour = '0', zoneMinute = '0'] = zone
  if (!isDate(+year, +month, +day)) return new Objection(`${shown(value)} is on a day that does not exist`)
  if (+hour > 23 || +minute > 59 || +second > 59 || +zoneHour > 14 || +zoneMinute > 59)
    return new Objection(`${shown(value)} is at a time that does not exist`)
  const local = Date.UTC(+year, +month - 1, +day, +hour, +minute, +second, +fraction.padEnd(3, '0'))
  const offsetMs = (sign === '-' ? -1 : 1) * (+zoneHour * msPer.h + +zoneMinute * msPer.m)
  const at = local - offsetMs
  return at < 0 ? new Objection(`${shown(value)} is before 1970`) : (at as EpochMs)
})

export const instantText = (at: EpochMs): string => new Date(at).toISOString()

/** `2026-12-31`. */
export const day: Reader<string> = scalar('a date such as 2026-12-31', { type: 'string', format: 'date' }, (value) => {
  if (typeof value !== 'string') return new Objection(`found ${found(value)}`)
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value) ?? []
  if (year === undefined || month === undefined || date === undefined)
    return new Objection(`${shown(value)} is not a date`)
  return isDate(+year, +month, +date) ? value : new Objection(`${shown(value)} is a day that does not exist`)
})

const isDate = (year: number, month: number, date: number): boolean => {
  if (year < 1000) return false // Date.UTC takes 0 to 99 for 1900 to 1999.
  const at = new Date(Date.UTC(year, month - 1, date))
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === date
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  fitsTable,
  renderObject,
  renderRecords,
  renderRows,
  terminalSafe,
  type Column,
  type Style,
} from '../../../services/cli/output.ts'

const style = (format: Style['format'], width = 100, colour = false): Style => ({ format, width, colour })
interface Job {
  readonly [key: string]: string | number | null
  readonly job: string
  readonly gpus: number
  readonly reason: string | null
}
const columns: ReadonlyArray<Column<Job>> = [
  { name: 'job', value: ({ job }) => job, whole: true },
  { name: 'gpus', value: ({ gpus }) => gpus },
  { name: 'reason', value: ({ reason }) => reason, paint: () => 'bad' },
]
const job = (more: Partial<Job> = {}): Job => ({ job: 'sweep-7', gpus: 8, reason: 'WaitingForCapacity', ...more })

describe('a table', () => {
  it('should have no borders, numbers to the right, and a dash for what is not there', () => {
    const rows = [job(), job({ job: 'a', gpus: 128, reason: null })]
    expect(renderRows(rows, columns, style('table'))).toBe(
      ['JOB       GPUS   REASON', 'sweep-7      8   WaitingForCapacity', 'a          128   -', ''].join('\n'),
    )
  })

  it('should give way to records, whole and safe, where it does not fit', () => {
    const rows = [job({ reason: 'x'.repeat(90) }), job({ job: 'a\u001b[31mb', reason: null })]
    expect(fitsTable(rows, columns, style('table', 110))).toBe(true)
    expect(fitsTable(rows, columns, style('table'))).toBe(false)
    expect(renderRecords(rows, columns, style('table'))).toBe(
      [
        'job      sweep-7',
        'gpus     8',
        `reason   ${'x'.repeat(90)}`,
        '',
        'job      ab',
        'gpus     8',
        'reason   -',
        '',
      ].join('\n'),
    )
  })

  it('should print its headings when there are no rows', () => {
    expect(renderRows([], columns, style('table'))).toBe('JOB   GPUS   REASON\n')
  })

  it('should fit its width by shortening what is widest, and no id', () => {
    const rows = [job({ job: 'x'.repeat(40), reason: 'why '.repeat(50) })]
    const lines = renderRows(rows, columns, style('table')).split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
    expect(lines[1]).toContain('x'.repeat(40))
    expect(lines[1]).toMatch(/why why.*…$/)
  })

  it('should count wide characters twice and marks not at all', () => {
    const rows = [job({ job: '訓練', gpus: 1 }), job({ job: 'e\u0301e', gpus: 2 })]
    const [, first, second] = renderRows(rows, columns, style('table')).split('\n')
    expect(first?.indexOf('1')).toBe(2 + '   GPUS'.length - 1)
    expect(second?.indexOf('2')).toBe(5 + '   GPUS'.length - 1)
  })

  it('should colour only where colour is wanted', () => {
    expect(renderRows([job()], columns, style('table', 100, true))).toContain('\u001b[31mWaitingForCapacity\u001b[39m')
    expect(renderRows([job()], columns, style('table'))).not.toContain('\u001b')
  })
})

describe('what somebody else wrote', () => {
  it.each([
    ['a colour', '\u001b[31mred\u001b[0m', 'red'],
    ['a colour in 8-bit form', '\u009b31mred', 'red'],
    ['a title', '\u001b]0;title\u0007text', 'text'],
    ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
    ['a cleared screen', '\u001b[2J\u001b[Htext', 'text'],
    ['a lone escape', 'a\u001b', 'a'],
    ['line breaks and tabs', 'a\r\nb\tc', 'a b c'],
    ['a backspace', 'ab\b', 'ab'],
    ['text turned round', 'a\u202eb', 'ab'],
  ])('should lose %s', (_, text, safe) => {
    expect(terminalSafe(text)).toBe(safe)
  })

  it('should never bring a control character to a terminal, whatever the format', () => {
    const noisy = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(noisy, fc.constantFrom('table', 'json', 'yaml', 'csv'), (text, format) => {
        const printed = renderRows([job({ reason: text })], columns, style(format))
        // eslint-disable-next-line no-control-regex -- to find control characters is the point
        expect(printed).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/)
      }),
    )
  })
})

describe('output for programs', () => {
  it('should give every row whole as JSON and YAML, and back unchanged', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ job: fc.string({ unit: 'binary' }), gpus: fc.nat(), reason: fc.string() })),
        (rows) => {
          expect(JSON.parse(renderRows(rows, columns, style('json')))).toEqual(rows)
          expect(parse(renderRows(rows, columns, style('yaml')))).toEqual(rows)
        },
      ),
    )
  })

  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', `"'=1+1"`],
    ['+cmd', `"'+cmd"`],
    ['-x', `"'-x"`],
    ['@sum', `"'@sum"`],
    ['-1.5', '-1.5'],
  ])('should write %j into CSV as %s', (reason, cell) => {
    expect(renderRows([job({ reason })], columns, style('csv'))).toBe(`job,gpus,reason\r\nsweep-7,8,${cell}\r\n`)
  })

  it('should print one object in every format', () => {
    const object = { jobs: 3, share: 0.5, first: null, by: { a: 1 } }
    expect(JSON.parse(renderObject(object, style('json')))).toEqual(object)
    expect(parse(renderObject(object, style('yaml')))).toEqual(object)
    expect(renderObject(object, style('csv'))).toBe('name,value\r\njobs,3\r\nshare,0.5\r\nfirst,\r\nby,"{""a"":1}"\r\n')
    expect(renderObject(object, style('table'))).toBe(
      ['NAME    VALUE', 'jobs    3', 'share   0.5', 'first   -', 'by      {"a":1}', ''].join('\n'),
    )
  })
})

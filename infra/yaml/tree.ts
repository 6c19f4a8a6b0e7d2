import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type Scalar } from 'yaml'
import { depthMax, pathOf, type Step } from '../../domain/kernel/document.ts'
import { shown } from '../../domain/kernel/wording.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { ParsedText } from './text.ts'

/** Most values that aliases may repeat, in a whole document. */
export const aliasedMax = 10_000

/** What a document says as plain data, and what is wrong with how it says it. */
export interface Plain {
  readonly value: unknown
  readonly faults: ReadonlyArray<Fault>
  /** Whether the value is all there: false when it nests or repeats too much. */
  readonly whole: boolean
}

/** How JSON writes a number; whatever else YAML takes for one is better said plainly. */
const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Longer paths are of what nests too much; nobody follows them to their end. */
const pathMax = 16

class TooMuch extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

/** Our own walk and not `toJS`: it places what it refuses, and never expands more than its bounds. */
export const plainOf = (document: Document.Parsed, place: ParsedText['place']): Plain => {
  const faults: Fault[] = []
  const steps: Step[] = []
  let aliased = 0

  const fault = (node: Node | null | undefined, reason: string, mend: string): Fault => ({
    path: pathOf(steps.slice(0, pathMax)),
    reason,
    mend,
    ...place(node?.range?.[0] ?? 0),
  })

  const scalar = (node: Scalar): unknown => {
    const { value, source } = node
    // What is not finite is refused wherever a number is read.
    if (typeof value === 'number' && Number.isFinite(value) && source !== undefined && !plainNumber.test(source)) {
      const mend = `write ${value}, or ${shown(source)} with quotes if it is a text`
      faults.push(fault(node, `${shown(source)} can be read in more than one way`, mend))
    }
    return value
  }

  /** @param alias the outermost alias that leads here */
  const read = (node: Node | null | undefined, depth: number, alias: Node | null): unknown => {
    if (alias !== null && ++aliased > aliasedMax)
      throw new TooMuch(fault(alias, `aliases repeat more than ${aliasedMax} values`, 'write the values out'))
    if (node === null || node === undefined) return null
    if (isScalar(node)) return scalar(node)
    if (depth === depthMax)
      throw new TooMuch(fault(node, `nests deeper than ${depthMax} levels`, 'remove the levels that are too many'))
    if (isAlias(node)) {
      const anchored = node.resolve(document)
      if (anchored !== undefined) return read(anchored, depth + 1, alias ?? node)
      faults.push(fault(node, `no anchor &${node.source} comes before it`, 'write the value out'))
      return null
    }
    if (isSeq(node))
      return node.items.map((item, i) => {
        steps.push(i)
        const value = read(item as Node | null, depth + 1, alias)
        steps.pop()
        return value
      })
    if (!isMap(node)) return null
    // Without a prototype, so that a key of any name is a member and nothing else.
    const map = Object.create(null) as Record<string, unknown>
    for (const { key, value } of node.items) {
      const name = keyOf(key)
      steps.push(name)
      if (Object.hasOwn(map, name)) faults.push(fault(key as Node, 'is given twice', 'keep one of the two'))
      const got = read(value as Node | null, depth + 1, alias)
      if (!Object.hasOwn(map, name)) map[name] = got
      steps.pop()
    }
    return map
  }

  try {
    return { value: read(document.contents, 0, null), faults, whole: true }
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    return { value: null, faults: [...faults, error.fault], whole: false }
  }
}

const keyOf = (key: unknown): string => (isScalar(key) ? String(key.value) : '')

/**
 * Where the value at these steps begins: a scalar itself, the key of what is a map, a list, empty or unknown; of what
 * is missing, the nearest thing around it.
 */
export const offsetOf = (document: Document.Parsed, steps: ReadonlyArray<Step>): number => {
  let node: Node | null = document.contents
  let offset = node?.range?.[0] ?? document.range[0]
  for (const step of steps) {
    if (isAlias(node)) node = node.resolve(document) ?? null
    let next: Node | null
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => keyOf(key) === step)
      if (pair === undefined) break
      offset = (pair.key as Node).range?.[0] ?? offset
      next = pair.value as Node | null
    } else if (isSeq(node) && typeof step === 'number') {
      if (step >= node.items.length) break
      next = node.items[step] as Node
      offset = next.range?.[0] ?? offset
    } else break
    if (isScalar(next) && next.source !== '' && next.range) offset = next.range[0]
    node = next
  }
  return offset
}

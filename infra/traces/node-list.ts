import { nameObjection } from '../../domain/kernel/ids.ts'
import { cpuMaxMilli, memoryMaxMib } from '../../domain/kernel/quantity.ts'
import { nodeDevicesMax } from '../../domain/planner/cell-event.codec.ts'
import { shown } from '../../domain/kernel/wording.ts'
import { either as E } from 'fp-ts'
import type { NodeRegistered } from '../../domain/planner/cell-event.ts'
import { findColumns, readDelimited, type Wanted } from './delimited.ts'
import { faultList } from './fault-list.ts'
import type { Column } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'
import { numberText } from './number-text.ts'
import { faulty, type FaultyFile } from './trace.ts'

type NodeData = NodeRegistered['data']
type Key = 'node' | 'cpu' | 'memory' | 'devices' | 'model' | 'deviceMemory' | 'domain'

/** openb's columns; the last two are ours, for fleets that know them. */
const wanted: ReadonlyArray<Wanted<Key>> = [
  { key: 'node', name: 'sn', required: true },
  { key: 'cpu', name: 'cpu_milli', required: true },
  { key: 'memory', name: 'memory_mib', required: true },
  { key: 'devices', name: 'gpu', required: true },
  { key: 'model', name: 'model', required: true },
  { key: 'deviceMemory', name: 'device_memory_mib', required: false },
  { key: 'domain', name: 'domain', required: false },
]

export const nodesMax = 200_000

/** The nodes of a list, in the order of the file. */
export const readNodeList = async (
  file: string,
): Promise<E.Either<FaultyFile | FileUnreadable, ReadonlyArray<NodeData>>> => {
  const faults = faultList()
  const nodes: Array<NodeData> = []
  const names = new Set<string>()
  const down = await readDelimited(file, faults, (header, headerLine) => {
    const columns = findColumns(header, headerLine, wanted, faults)
    if (columns === null) return null
    return (cells, line, columnOf) => {
      const before = faults.count()
      const refuse = (at: Column, reason: string, mend: string): void => {
        const place = columnOf === undefined ? { line } : { line, column: columnOf(at.index) }
        faults.add({ path: at.name, ...place, reason, mend })
      }
      const cell = (key: Key): readonly [Column, string] | null => {
        const at = columns.get(key)
        return at === undefined ? null : [at, cells[at.index]!]
      }
      /** Null where the cell is empty: without limit. */
      const amount = (key: Key, max: number): number | null => {
        const [at, text] = cell(key) ?? [undefined, '']
        if (at === undefined || text === '') return null
        const value = numberText(text)
        if (Number.isInteger(value) && value >= 0 && value <= max) return value + 0 // Never -0.
        refuse(at, `${shown(text)} is not a whole number from 0 to ${max}`, 'write one')
        return null
      }
      const name = (key: Key): string | null => {
        const [at, text] = cell(key) ?? [undefined, '']
        if (at === undefined || text === '') return null
        const objection = nameObjection(text)
        if (objection !== null) refuse(at, `${shown(text)} ${objection}`, 'write another name')
        return text
      }
      const [at] = cell('node')!
      const node = name('node')
      if (node === null) refuse(at, 'is empty', 'give every node a name of its own')
      else if (names.has(node)) refuse(at, `${shown(node)} is there twice`, 'give every node a name of its own')
      const [devicesAt, devicesText] = cell('devices')!
      if (devicesText === '') refuse(devicesAt, 'is empty', 'write 0 for a node without GPUs')
      const data: NodeData = {
        cpuMilli: amount('cpu', cpuMaxMilli),
        deviceMemoryMib: amount('deviceMemory', memoryMaxMib),
        devices: amount('devices', nodeDevicesMax) ?? 0,
        domain: name('domain'),
        hostMemoryMib: amount('memory', memoryMaxMib),
        model: name('model'),
        node: node ?? '',
      }
      names.add(data.node)
      if (nodes.length === nodesMax) {
        refuse(at, `is node ${nodesMax + 1}`, `the most is ${nodesMax}`)
        return false
      }
      if (faults.count() === before) nodes.push(data)
      return true
    }
  })
  if (down !== null) return E.left(down)
  if (faults.count() === 0 && nodes.length === 0)
    faults.add({ path: '$', reason: 'holds no node', mend: 'give a file with at least one node' })
  return faults.count() > 0 ? E.left(faulty(file, faults)) : E.right(nodes)
}

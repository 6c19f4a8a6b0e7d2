import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { either as E } from 'fp-ts'
import type { Decode } from '../../domain/kernel/document.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { decodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { warningsOf } from '../../domain/policy/policy-warnings.ts'
import type { SuppliedNode } from '../../domain/policy/supply.ts'
import { isWarning } from '../../domain/policy/warning.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { ownerOf } from '../../infra/host/folder-owner.ts'
import { readNodeList } from '../../infra/traces/node-list.ts'
import { readDocumentFile } from '../../infra/yaml/document.ts'
import { counted } from './counted.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes, VerbFailed, type ExitCode } from './exit.ts'
import { terminalSafe, type Column, type JsonObject } from './output.ts'
import type { Context } from './session.ts'
import { verb, type Session } from './session.ts'
import { fileFailed, numberBetween, refuseFlags } from './trace-options.ts'

interface CheckFlags {
  readonly nodes?: string
  readonly gpusPerNode?: string
  readonly nodeList?: string
  readonly strict?: true
}

/** Registers `policy check` below `policy`. */
export const registerPolicyCheck = (policy: Command, context: Context): void => {
  policy
    .command('check')
    .argument('<file>', 'an AllocationPolicy document, YAML or JSON; - for the standard input')
    .description('everything that is wrong with a policy, and what of it will surprise; nothing is changed')
    .option('--node-list <file>', 'fleet to hold it against: CSV with sn, cpu_milli, memory_mib, gpu, model')
    .option('--nodes <n>', 'the same: so many equal nodes (default: the fleet of the log, if there is one)')
    .option('--gpus-per-node <m>', 'devices of each of them (default: 8)')
    .option('--strict', `refuse what there are warnings of, too, with exit code ${exitCodes.refused}`)
    .addHelpText(
      'after',
      `\nExit code ${exitCodes.usage} if it is not valid; warnings alone do not count.\n\nExamples:\n` +
        '  leasehold policy check docs/examples/policies/company.yaml\n' +
        '  leasehold policy check docs/examples/policies/small-team.yaml --nodes 1 --gpus-per-node 8 --strict',
    )
    .action(
      verb(context, async (session, file: string, flags: CheckFlags) => {
        const fleet = await fleetFrom(session, flags)
        const found = await findings(file, fleet)
        await printFindings(session, file, found, fleet !== null)
        if (fleet === null) session.note(unchecked)
        return codeOf(found, flags.strict === true)
      }),
    )
}

/** The fleet that the flags describe, else that of the log; null: there is neither. */
const fleetFrom = async (session: Session, flags: CheckFlags): Promise<ReadonlyArray<SuppliedNode> | null> => {
  const { nodeList, nodes } = flags
  const faults: Fault[] = []
  const count = numberBetween('--nodes', nodes, 1, 100_000, faults)
  const each = numberBetween('--gpus-per-node', flags.gpusPerNode, 0, 1_024, faults) ?? 8
  if (nodes !== undefined && nodeList !== undefined)
    faults.push({ path: '--nodes', reason: 'two fleets are given', mend: 'give either --nodes or --node-list' })
  if (flags.gpusPerNode !== undefined && nodes === undefined)
    faults.push({ path: '--gpus-per-node', reason: 'is of --nodes, which is not given', mend: 'add --nodes' })
  refuseFlags(faults)
  if (count !== undefined) return equalNodes(count, each)
  if (nodeList !== undefined) {
    const read = await readNodeList(nodeList)
    if (E.isLeft(read)) throw fileFailed(read.left)
    return read.right
  }
  const { data } = session.configuration
  if (ownerOf(data) === null && !existsSync(data)) return null
  try {
    const { nodes: registered } = await withDesk(session, {}, async (desk) => fromDesk(desk.fleet(null)))
    return registered.length === 0 ? null : registered
  } catch (cause) {
    if (!(cause instanceof VerbFailed)) throw cause
    session.note(cause.message) // What is wrong with the log is no objection to the policy.
    return null
  }
}

/** Warnings are placed as faults are, so they are found as if they were: by a decoder that refuses them. */
const findings = async (file: string, fleet: ReadonlyArray<SuppliedNode> | null): Promise<ReadonlyArray<Fault>> => {
  const decode: Decode<AllocationPolicy> = (value) => {
    const read = decodePolicy(value)
    if (E.isLeft(read)) return read
    const warnings = warningsOf(read.right, fleet, systemClock.now())
    return warnings.length === 0 ? read : E.left(warnings)
  }
  const read = await readDocumentFile(file, decode)()
  if (E.isRight(read)) return []
  if (read.left.type === 'DocumentRefused') return read.left.faults
  throw fileFailed(read.left)
}

const codeOf = (found: ReadonlyArray<Fault>, strict: boolean): ExitCode => {
  if (found.some((each) => !isWarning(each))) return exitCodes.usage
  return strict && found.length > 0 ? exitCodes.refused : exitCodes.done
}

const severityOf = (fault: Fault): 'fault' | 'warning' => (isWarning(fault) ? 'warning' : 'fault')

const unchecked =
  'Without a fleet nothing is said of quota, reservations and reserves beyond what it has, of accelerators that it lacks, ' +
  'of shares below one device, and of pools on nodes that are not there: give --nodes N or --node-list FILE.'

const printFindings = async (
  session: Session,
  file: string,
  found: ReadonlyArray<Fault>,
  hasFleet: boolean,
): Promise<void> => {
  if (session.style.format === 'table') return printTable(session, file, found, hasFleet)
  const rows = found.map((fault): JsonObject => {
    const { column = null, line = null, mend, path, reason } = fault
    return { severity: severityOf(fault), line, column, path, reason, mend }
  })
  await session.printRows<JsonObject>(
    rows,
    ['severity', 'line', 'column', 'path', 'reason', 'mend'].map((name) => ({ name, value: (row) => row[name]! })),
  )
}

/** One line of the table; only the first of a finding says where and what kind it is. */
interface Line {
  readonly line: string
  readonly kind: string
  readonly what: string
}
const columns: ReadonlyArray<Column<Line>> = [
  { name: 'line', value: ({ line }) => line, whole: true, align: 'right' },
  {
    name: 'kind',
    value: ({ kind }) => kind,
    whole: true,
    paint: ({ kind }) => (kind === 'fault' ? 'bad' : kind === 'warning' ? 'warn' : 'plain'),
  },
  { name: 'what', value: ({ what }) => what, whole: true },
]
/** Columns of a terminal before the text. */
const marginWidth = 20

const printTable = async (
  session: Session,
  file: string,
  found: ReadonlyArray<Fault>,
  hasFleet: boolean,
): Promise<void> => {
  const width = Math.max(marginWidth, session.style.width - marginWidth)
  const lines = found.flatMap((fault): ReadonlyArray<Line & JsonObject> => {
    const { line, mend, path, reason } = fault
    const texts = [`${path}: ${reason}`, `-> ${mend}`].flatMap((text, i) => wrapped(terminalSafe(text), width, i * 3))
    return texts.map((what, i) =>
      i === 0 ? { line: String(line ?? '-'), kind: severityOf(fault), what } : { line: '', kind: '', what },
    )
  })
  if (lines.length > 0) await session.printRows<Line>(lines, columns)
  if (lines.length > 0) await session.write('\n')
  await session.say(`${file}: ${summary(found, hasFleet)}`)
}

const summary = (found: ReadonlyArray<Fault>, hasFleet: boolean): string => {
  const warnings = found.filter(isWarning).length
  const faults = found.length - warnings
  if (faults > 0)
    return `not valid, ${counted(faults, 'fault')}; warnings come once ${faults === 1 ? 'it is' : 'they are'} mended`
  if (warnings > 0) return `valid, with ${counted(warnings, 'warning')}`
  return `valid, nothing to warn of${hasFleet ? '' : ' that needs no fleet'}`
}

/** Broken between words, or inside one that is longer than a line; what follows the first line is indented. */
const wrapped = (text: string, width: number, indent: number): ReadonlyArray<string> => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    let rest = word
    if (line !== '' && line.length + 1 + rest.length > width) {
      lines.push(line)
      line = ''
    }
    const start = () => (lines.length === 0 ? '' : ' '.repeat(indent))
    while (start().length + rest.length > width) {
      lines.push(start() + rest.slice(0, width - start().length))
      rest = rest.slice(width - start().length)
    }
    line = line === '' ? start() + rest : `${line} ${rest}`
  }
  return line.trim() === '' ? lines : [...lines, line]
}

import { built, name, Notes, Objection, oneOf, prose, scalar, wholeNumber, type Reader } from '../kernel/document.ts'
import { day, duration, durationText } from '../kernel/quantity.ts'
import type { DurationMs } from '../kernel/units.ts'
import {
  boundOf,
  defaultBudget,
  reserveAfterOf,
  type BudgetNodePolicy,
  type BudgetPolicy,
  type ClassPolicy,
} from './budget-policy.ts'
import {
  derived,
  dictionary,
  list,
  listedElsewhere,
  may,
  must,
  orNull,
  plain,
  struct,
  time,
  type Form,
  type Rough,
} from './form.ts'
import { devices, priority } from './quota-policy.codec.ts'

export const ownerMax = 200
const classesMax = 1000
const reserveMax = 1_000_000
const shareMax = 1_000_000
const siblingsMax = 1000
const personsMax = 10_000
/** Levels of the tree above the persons. */
export const budgetLevelsMax = 8
const hourMs = 3_600_000
const windowMaxHours = 2160

// ---- Classes

const workloadClass: Form<ClassPolicy> = struct<ClassPolicy>(
  {
    name: must('name', plain(name)),
    priority: may('priority', priority, 0),
    agingMs: orNull('aging', time(1)),
    boundMs: derived<DurationMs, ClassPolicy>('bound', time(1), (beside) => boundOf(beside.name ?? '')),
    reserveAfterMs: derived<DurationMs, ClassPolicy>('reserveAfter', time(0), ({ boundMs, name: of = '' }) =>
      reserveAfterOf(boundMs ?? boundOf(of)),
    ),
    reserveDevices: may('reserve', plain(wholeNumber(0, reserveMax)), 0),
  },
  ({ boundMs, reserveAfterMs }, notes) => {
    if (boundMs !== undefined && reserveAfterMs !== undefined && reserveAfterMs > boundMs)
      notes.add(
        `${durationText(reserveAfterMs)} is after the bound of ${durationText(boundMs)}`,
        'give less, or leave it out for half the bound',
        'reserveAfter',
      )
  },
)
export const classes = list(workloadClass, 1, classesMax, (each) => each.name)

// ---- Budgets

const nodeName = plain(
  built(name, (read, notes) => {
    if (!read.includes('/')) return read
    notes.add('has a / in it, which parts the names of a path', 'name its levels one below the other, in children')
    return undefined
  }),
)

/** What stands in the place of a node that is too deep. */
const tooDeep: Reader<BudgetNodePolicy> = {
  expected: 'nothing',
  fields: [],
  schema: { type: 'null' },
  read: (_, notes) => {
    notes.add(`lies below ${budgetLevelsMax} levels`, 'bring it higher up')
    return undefined
  },
}

const nodeAt = (level: number): Form<BudgetNodePolicy> => {
  const below: Form<BudgetNodePolicy> =
    level === budgetLevelsMax ? { document: tooDeep, event: tooDeep, written: () => null } : nodeAt(level + 1)
  const children = listedElsewhere(list(below, 0, siblingsMax, (node) => node.name))
  return struct<BudgetNodePolicy>(
    {
      name: must('name', nodeName),
      share: must('share', plain(wholeNumber(0, shareMax))),
      owner: orNull('owner', plain(prose(ownerMax))),
      reviewDate: orNull('reviewDate', plain(day)),
      capMilli: orNull('cap', devices),
      children: may('children', children, []),
      persons: may('persons', dictionary(plain(wholeNumber(0, shareMax)), personsMax), {}),
    },
    (node, notes) => {
      if ((node.children ?? []).length > 0 && Object.keys(node.persons ?? {}).length > 0)
        notes.add('are persons of what has projects', 'move them to a project that has none', 'persons')
      noteNoShares(node.children, (reason, mend) => {
        notes.add(reason, mend, 'children')
      })
    },
  )
}

const noteNoShares = (
  siblings: Rough<ReadonlyArray<BudgetNodePolicy>> | undefined,
  note: (reason: string, mend: string) => void,
): void => {
  if (siblings === undefined || siblings.length === 0 || siblings.some(({ share }) => share !== 0)) return
  note('add up to a share of 0, so that nobody is owed anything', 'give at least one of them a share above 0')
}

const anyDuration = duration(0)
const [windowMin, windowMax] = [2 * hourMs, windowMaxHours * hourMs].map((ms) => durationText(ms as DurationMs))
const windowExpected = `whole hours or days from ${windowMin} to ${windowMax}, such as 7d`

/** Hours of the window are its closed buckets and the open one. Whatever is wrong, its own bounds are asked for. */
const windowHours: Form<number> = {
  document: scalar(windowExpected, { ...anyDuration.schema, description: windowExpected }, (value) => {
    const notes = new Notes()
    const ms = anyDuration.read(value, notes)
    if (ms === undefined) return new Objection(notes.faults[0]!.reason)
    if (ms < 2 * hourMs) return new Objection(`${durationText(ms)} is below ${windowMin}`)
    if (ms % hourMs !== 0) return new Objection(`${durationText(ms)} is not made of whole hours`)
    return ms > windowMaxHours * hourMs ? new Objection(`${durationText(ms)} is above ${windowMax}`) : ms / hourMs - 1
  }),
  event: wholeNumber(1, windowMaxHours - 1),
  written: (closed) => durationText(((closed + 1) * hourMs) as DurationMs),
}

export const budgets: Form<BudgetPolicy> = struct<BudgetPolicy>(
  {
    windowHours: may('window', windowHours, defaultBudget.windowHours),
    reclaimAfterMs: may('reclaimAfter', time(0), defaultBudget.reclaimAfterMs),
    turnMs: may('turn', time(0), defaultBudget.turnMs),
    creditMaxMs: may('creditMax', time(0), defaultBudget.creditMaxMs),
    undrilledMaxMs: may('undrilledMax', time(0), defaultBudget.undrilledMaxMs),
    idleAfterMs: may('idleAfter', time(1), defaultBudget.idleAfterMs),
    charged: may(
      'charged',
      list(plain(oneOf(['cpu', 'memory'])), 0, 2, (resource) => resource),
      defaultBudget.charged,
    ),
    tree: must(
      'tree',
      list(nodeAt(1), 1, siblingsMax, (node) => node.name),
    ),
  },
  ({ tree }, notes) => {
    noteNoShares(tree, (reason, mend) => {
      notes.add(reason, mend, 'tree')
    })
  },
)

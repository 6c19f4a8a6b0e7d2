import { expect, it } from 'vitest'
import { openCommand } from '../../../../domain/planner/open-commands.ts'
import { defaultCommands } from '../../../../domain/policy/allocation-policy.ts'
import { defaultContract } from '../../../../domain/policy/contract-policy.ts'
import { minute, minutes } from '../../../support/cell-life.ts'
import { contested } from '../../../support/contested-life.ts'

const asked = (graceMinutes: number, mostMinutes?: number) => {
  const life = contested(
    1,
    {
      mode: 'automate',
      ...(mostMinutes !== undefined && { contract: { ...defaultContract, gracePeriodMaxMs: minutes(mostMinutes) } }),
    },
    { job: { preemption: { gracePeriodMs: minutes(graceMinutes) } } },
  )
  life.submit('b0', 1, { budget: 'b' }).pass(10 * minute)
  const command = openCommand(life.cell, life.cell.workloads.get('a0')!)!
  expect(command).toMatchObject({ because: 'preempted', verb: 'evict' })
  return { graceMs: command.graceMs, withinMs: command.deadlineAt - command.issuedAt - defaultCommands.stopWithinMs }
}

it('should warn a victim for as long as it declared', () => {
  expect(asked(3)).toEqual({ graceMs: 3 * minute, withinMs: 3 * minute })
})

it('should warn it for no longer than the policy allows, ten minutes unless it says otherwise', () => {
  expect(asked(60)).toEqual({ graceMs: 10 * minute, withinMs: 10 * minute })
  expect(asked(60, 5)).toEqual({ graceMs: 5 * minute, withinMs: 5 * minute })
  expect(asked(3, 0)).toEqual({ graceMs: 0, withinMs: 0 })
})

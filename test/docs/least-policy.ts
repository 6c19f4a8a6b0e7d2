const research = { budgets: { tree: [{ name: 'research', share: 1 }] } }
const company = [{ name: 'company' }]
const quotas = [{ accelerator: 'h100', devices: { nominal: 512 }, cpu: { nominal: 8 } }]
const person = { owner: 'Ann', name: 'demo' }

/** The least of `spec` that may be stated for a member, by the beginning of its name: what it is only allowed beside. */
const leasts: ReadonlyArray<readonly [beginning: string, spec: object]> = [
  ['spec.accelerators[]', { accelerators: [{ name: 'h100' }] }],
  ['spec.classes[]', { classes: [{ name: 'debug' }] }],
  ['spec.queues[].budget', { queues: [{ name: 'default' }], ...research }],
  ['spec.queues[].cohort', { queues: [{ name: 'default' }], cohorts: company }],
  [
    'spec.queues[].lendingDeadline',
    { queues: [{ name: 'default', cohort: 'company', quotas }], cohorts: company, ...research },
  ],
  ['spec.queues[].quotas[]', { queues: [{ name: 'default', cohort: 'company', quotas }], cohorts: company }],
  [
    'spec.queues[].preemption.borrowPriorityMax',
    {
      sharing: 'kueue',
      queues: [{ name: 'default', preemption: { reclaimWithinCohort: 'any', borrowWithinCohort: 'lowerPriority' } }],
    },
  ],
  [
    'spec.queues[].preemption.borrow',
    { sharing: 'kueue', queues: [{ name: 'default', preemption: { reclaimWithinCohort: 'any' } }] },
  ],
  ['spec.queues[].preemption', { sharing: 'kueue', queues: [{ name: 'default' }] }],
  ['spec.queues[].fungibility', { sharing: 'kueue', queues: [{ name: 'default' }] }],
  ['spec.queues[]', { queues: [{ name: 'default' }] }],
  ['spec.cohorts[].parent', { cohorts: [{ name: 'research' }, ...company] }],
  ['spec.cohorts[]', { cohorts: [{ name: 'research' }] }],
  ['spec.budgets.', research],
  [
    'spec.protectedPools[]',
    { protectedPools: [{ name: 'serving', nodes: ['n-01'], budgets: ['research'] }], ...research },
  ],
  [
    'spec.reservations[]',
    {
      reservations: [{ ...person, budget: 'research', devices: 1, justification: 'so', expires: '2027-03-31' }],
      ...research,
    },
  ],
  ['spec.protectedPools', research],
  ['spec.reservations', research],
  ['spec.headroom.', { headroom: { percent: 15 } }],
  [
    'spec.exceptions[].allows.devices',
    {
      exceptions: [
        { ...person, reason: 'so', subject: { kind: 'team', name: 'a' }, allows: { kind: 'cap', devices: 1 } },
      ],
    },
  ],
  [
    'spec.exceptions[]',
    {
      exceptions: [
        { ...person, reason: 'so', subject: { kind: 'team', name: 'a' }, allows: { kind: 'not-preempted' } },
      ],
    },
  ],
  ['spec.kueue.usageOrdering.', { sharing: 'kueue', kueue: { usageOrdering: {} } }],
  ['spec.placement.mix[]', { placement: { mix: [{ count: 1 }] } }],
]

/** The least document that may be stated for a field of a policy. */
export const leastPolicy = (field: string): object => ({
  spec: leasts.find(([beginning]) => field.startsWith(beginning))?.[1] ?? {},
})

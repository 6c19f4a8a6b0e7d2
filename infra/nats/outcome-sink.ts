import { either as E } from 'fp-ts'
import { encodeFact } from '../../domain/planner/cloud-event.ts'
import type { OutcomeSink } from '../../domain/ports/outcome-sink.ts'
import type { NatsLink } from './link.ts'

/** On their way at once; the server keeps them in the order in which they were given, unless one had to be sent again. */
const outstandingMax = 256

export const natsOutcomeSink = (link: NatsLink): OutcomeSink => ({
  tell: (cell, adapter, facts) => async () => {
    const subject = link.subject('outcome', cell, adapter)
    for (let first = 0; first < facts.length; first += outstandingMax) {
      const batch = facts.slice(first, first + outstandingMax)
      const told = await Promise.all(batch.map((fact) => link.publish('outcome', subject, fact.id, encodeFact(fact))))
      for (const one of told) if (E.isLeft(one)) return one
    }
    return E.right(undefined)
  },
})

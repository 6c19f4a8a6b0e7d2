import { either as E } from 'fp-ts'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { Answering, Requester, RequestResponder, RequestVerb } from '../../domain/ports/requests.ts'
import { nobodyThere, tooLate } from '../host/no-reply.ts'

/** Questions and answers within one process, for tests: who answers takes turns. */
export class MemoryRequests implements Requester, RequestResponder {
  private readonly answerers = new Map<RequestVerb, Answering[]>()

  answer(verb: RequestVerb, answering: Answering): BusDelivery {
    const there = this.answerers.get(verb) ?? []
    this.answerers.set(verb, [...there, answering])
    return {
      fault: null,
      stop: () => {
        this.answerers.set(
          verb,
          (this.answerers.get(verb) ?? []).filter((each) => each !== answering),
        )
        return Promise.resolve()
      },
    }
  }

  ask(verb: RequestVerb, question: string, withinMs: number): ReturnType<Requester['ask']> {
    return async () => {
      const [next, ...others] = this.answerers.get(verb) ?? []
      if (next === undefined) return E.left(nobodyThere(verb))
      this.answerers.set(verb, [...others, next])
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<null>((resolve) => {
        timer = setTimeout(resolve, withinMs, null)
      })
      const answer = await Promise.race([next(question), late])
      clearTimeout(timer)
      return answer === null ? E.left(tooLate(verb, withinMs)) : E.right(answer)
    }
  }
}

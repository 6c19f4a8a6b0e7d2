import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { Answering, Requester, RequestResponder } from '../../domain/ports/requests.ts'
import { right } from '../support/events.ts'

/** A way to ask, and two processes that may answer. */
export interface RequestPlace {
  readonly requester: Requester
  readonly responders: readonly [RequestResponder, RequestResponder]
  readonly close: () => Promise<void>
}

export const requestsContract = (name: string, place: () => Promise<RequestPlace>): void => {
  describe(name, () => {
    const closing: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close()
    })
    const opened = async () => {
      const { close, requester, responders } = await place()
      closing.push(close)
      const answer = (which: 0 | 1, verb: Parameters<RequestResponder['answer']>[0], answering: Answering) => {
        const delivery = responders[which].answer(verb, answering)
        closing.push(() => delivery.stop())
        return delivery
      }
      return { requester, answer }
    }
    const eventually = async (ask: () => Promise<E.Either<unknown, string>>): Promise<string> => {
      for (let tries = 0; ; tries++) {
        const answer = await ask()
        if (E.isRight(answer)) return answer.right
        if (tries > 100) throw new Error(JSON.stringify(answer.left))
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }

    it('should bring a question to who answers its verb, and the answer back', async () => {
      const { answer, requester } = await opened()
      answer(0, 'why', (question) => Promise.resolve(`why ${question}`))
      answer(0, 'plan', (question) => Promise.resolve(`plan ${question}`))
      expect(await eventually(requester.ask('why', '{"workload":"ä"}', 5_000))).toBe('why {"workload":"ä"}')
      expect(await right(requester.ask('plan', '{}', 5_000))).toBe('plan {}')
    })

    it('should say at once that nobody is there, before and after', async () => {
      const { answer, requester } = await opened()
      const nobody = { left: { type: 'NobodyThere', reason: 'nobody answers submit' } }
      expect(await requester.ask('submit', '{}', 60_000)()).toMatchObject(nobody)
      const delivery = answer(0, 'submit', () => Promise.resolve('yes'))
      await eventually(requester.ask('submit', '{}', 5_000))
      await delivery.stop()
      expect(await requester.ask('submit', '{}', 60_000)()).toMatchObject(nobody)
    })

    it('should say that nobody answered in time', async () => {
      const { answer, requester } = await opened()
      answer(0, 'why', () => new Promise((resolve) => setTimeout(resolve, 1_000, 'late')))
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(await requester.ask('why', '{}', 100)()).toMatchObject({ left: { type: 'TooLate' } })
    })

    it('should give each question to one of those that answer, and none has to wait for another', async () => {
      const { answer, requester } = await opened()
      const answered: [number, number] = [0, 0]
      let release: () => void = () => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      for (const which of [0, 1] as const)
        answer(which, 'why', async (question) => {
          answered[which]++
          if (question === 'slow') await held
          return question
        })
      await eventually(requester.ask('why', 'first', 5_000))
      await new Promise((resolve) => setTimeout(resolve, 100))
      answered.fill(0)
      const slow = requester.ask('why', 'slow', 20_000)()
      const questions = Array.from({ length: 50 }, (_, i) => String(i))
      expect(await Promise.all(questions.map((question) => right(requester.ask('why', question, 5_000))))).toEqual(
        questions,
      )
      release()
      expect(await slow).toEqual(E.right('slow'))
      expect(answered[0] + answered[1]).toBe(51)
      expect(Math.min(...answered)).toBeGreaterThan(0)
    })
  })
}

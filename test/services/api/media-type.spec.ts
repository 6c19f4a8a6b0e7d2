import { expect, it } from 'vitest'
import { acceptedOf, bodyTypeOf } from '../../../services/api/media-type.ts'

const types = ['application/json', 'text/plain']

it.each([
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['text/plain', 'text/plain'],
  ['text/*', 'text/plain'],
  ['text/html', 'application/json'],
  ['text/plain;q=0.5, application/json;q=0.9', 'application/json'],
  ['text/plain, */*;q=0.1', 'text/plain'],
  ['application/json;q=0, */*', 'text/plain'],
  ['rubbish;q=x', 'application/json'],
])('should answer who accepts %j with %s', (accept, type) => {
  expect(acceptedOf(accept, types)).toBe(type)
})

it.each([
  ['application/json', 'application/json'],
  ['Application/JSON; charset="UTF-8"', 'application/json'],
  ['text/yaml', 'application/yaml'],
  ['application/jsonl', 'application/x-ndjson'],
])('should take a body of %s as %s', (header, type) => {
  expect(bodyTypeOf(header, undefined, ['application/json', 'application/yaml', 'application/x-ndjson'])).toBe(type)
})

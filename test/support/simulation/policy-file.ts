import { readFileSync } from 'node:fs'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { readDocument } from '../../../infra/yaml/document.ts'
import { rightOf } from '../faults.ts'

const folder = new URL('../../oracle/policies/', import.meta.url)

/** A policy document of `test/oracle/policies`, decoded. */
export const policyFile = (name: string): AllocationPolicy =>
  rightOf(readDocument(readFileSync(new URL(name, folder), 'utf8'), decodePolicy))

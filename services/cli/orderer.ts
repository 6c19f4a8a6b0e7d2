import { userInfo } from 'node:os'
import type { Orderer } from '../api/desk.ts'

/** Whoever runs the verb, as the system knows them. */
export const orderer = (reason: string | null = null): Orderer => ({ actor: userName(), reason })

const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}

import type { Register } from './program.ts'
export const registerAudit: Register = () => undefined

import type { Register } from './program.ts'
export const registerLog: Register = () => undefined

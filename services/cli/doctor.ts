import type { Register } from './program.ts'
export const registerDoctor: Register = () => undefined

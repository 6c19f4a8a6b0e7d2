// A job that only says that it checkpoints: it keeps nothing, does not stop when it is asked to, and begins again from nothing.
import { setTimeout as pause } from 'node:timers/promises'

const stepMs = 50
const steps = Math.ceil(Number(process.env.LEASEHOLD_ESTIMATE_MS || 60_000) / stepMs)
process.on('SIGUSR2', () => console.log('leasehold: checkpoint'))
process.on('SIGTERM', () => console.log('not now'))
console.log('from step 0\nleasehold: can checkpoint')
for (let step = 1; step <= steps; step++) {
  await pause(stepMs)
  console.log(`step ${step}\nleasehold: progress`)
}
console.log('all steps done')

// A job that really checkpoints: it counts steps for as long as it was said to run, writes where it is when it is asked to and when it has to stop, and goes on
// from there when it is run again.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const { LEASEHOLD_ESTIMATE_MS: estimateMs, LEASEHOLD_LEASE: lease, LEASEHOLD_STATE: state } = process.env
const stepMs = 50
const steps = Math.ceil(Number(estimateMs || 60_000) / stepMs)
const file = join(state, 'step')

const kept = () => {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return 0
  }
}
const devices = () => JSON.parse(readFileSync(lease, 'utf8')).lease.flatMap((part) => part.devices).length
let step = kept()
// A file that is there whole or not at all, before it is said to be there.
const checkpoint = () => {
  writeFileSync(`${file}.next`, `${step}\n`)
  renameSync(`${file}.next`, file)
  console.log(`kept step ${step}\nleasehold: checkpoint`)
}
process.on('SIGUSR2', checkpoint)
process.on('SIGHUP', () => console.log(`goes on with ${devices()} devices\nleasehold: shrunk`))
process.on('SIGTERM', () => {
  checkpoint()
  process.exit(143)
})
console.log(`from step ${step} with ${devices()} devices\nleasehold: can checkpoint\nleasehold: can shrink`)
while (step < steps) {
  await pause(stepMs)
  step++
  console.log(`step ${step}\nleasehold: progress`)
}
console.log('all steps done')

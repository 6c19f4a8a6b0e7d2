import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from './terminal.ts'

const folderFor = tempFolder()

it('should say who waits in words in a table, and in numbers in CSV', async () => {
  const folder = folderFor()
  const file = join(folder, 'jobs.csv')
  writeFileSync(file, 'id,submit,duration,gpus\nruns,0,9000,8\nhalf,60,10,4\nlast,120,10,1\n')
  const data = ['--data', join(folder, 'data')]
  const simulated = await run(['simulate', file, '--nodes', '1', '--ordering', 'fifo', ...data])
  expect(simulated.code).toBe(0)
  const queue = async (format: string) => (await run(['queue', '--at', '3660s', '-o', format, ...data])).stdout
  expect(await queue('table')).toBe(
    [
      'QUEUE     POSITION   WORKLOAD   NEEDS    WAITED   REASON',
      'default          1   half       4 GPUs   1 h      WaitingForCapacity',
      'default          2   last       1 GPU    59 min   BehindInQueue',
      '',
    ].join('\n'),
  )
  expect(await queue('csv')).toBe(
    [
      'queue,budget,position,workload,class,needDevices,needMilli,needMemoryMib,submittedAt,waitedMs,code,projectedStartAt',
      'default,,1,half,default,4,4000,0,60000,3600000,WaitingForCapacity,9000000',
      'default,,2,last,default,1,1000,0,120000,3540000,BehindInQueue,',
      '',
    ].join('\r\n'),
  )
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listedMax } from '../../../services/cli/figures.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from './terminal.ts'

const folderFor = tempFolder()

const imported = async (format: string) => {
  const folder = folderFor()
  const rows = Array.from({ length: 30 }, (_, i) => `j${i},${i * 10},3600,1,${900 - i},batch`)
  const wide = 'whole,400,7200,8,1000,a-rather-long-name-of-a-class'
  writeFileSync(join(folder, 'jobs.csv'), ['id,submit,duration,gpus,milli,class', ...rows, wide, ''].join('\n'))
  writeFileSync(join(folder, 'nodes.csv'), 'sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,8,G2\nn2,,,0,\n')
  const { code, stdout } = await run([
    'import',
    join(folder, 'jobs.csv'),
    '--node-list',
    join(folder, 'nodes.csv'),
    '-o',
    format,
  ])
  expect(code).toBe(0)
  return stdout.split(/\r?\n/)
}

it('should print a line for each thing that it counts, which fits a terminal', async () => {
  const lines = await imported('table')
  expect(lines).toContainEqual(expect.stringMatching(/^jobs {3,}31$/))
  expect(lines).toContainEqual(expect.stringMatching(/^byGpus\.8 {3,}jobs 1, gpuMilli 8,000, gpuHours 16$/))
  expect(lines).toContainEqual(expect.stringMatching(/^times\.duration\.maxS {3,}7,200$/))
  expect(lines).toContainEqual(expect.stringMatching(/^nodes\.byModel\.G2 {3,}nodes 1, gpus 8$/))
  expect(lines.filter((line) => line.startsWith('byFraction.'))).toHaveLength(listedMax)
  expect(lines).toContainEqual(expect.stringMatching(/^byFraction {3,}\.\.\. and 10 more: -o json has all$/))
  expect(lines.filter((line) => line.length > 100)).toEqual([])
  expect(lines.filter((line) => /[{}[\]]|null/.test(line))).toEqual([])
})

it('should give CSV every figure in a line of its own, as it is', async () => {
  const lines = await imported('csv')
  expect(lines).toEqual(expect.arrayContaining(['name,value', 'byGpus.8.gpuMilli,8000', 'byClass.batch.jobs,30']))
  expect(lines.filter((line) => line.startsWith('byFraction.'))).toHaveLength(30)
  expect(lines.filter((line) => line !== '' && line.split(',').length !== 2)).toEqual([])
})

it('should give the CSV of a simulation in the same way', async () => {
  const folder = folderFor()
  writeFileSync(join(folder, 'jobs.csv'), 'id,submit,duration,gpus,class\na,0,60,8,batch\nb,0,60,8,batch\n')
  const { code, stdout } = await run(['simulate', join(folder, 'jobs.csv'), '--nodes', '1', '-o', 'csv'])
  expect(code).toBe(0)
  const lines = stdout.split('\r\n')
  expect(lines).toEqual(
    expect.arrayContaining(['jobs,2', 'meanWaitByClass.batch,30', 'meanWaitByGpus.8,30', 'placed,']),
  )
})

it('should not claim to have counted every fault of a file that is wrong throughout', async () => {
  const folder = folderFor()
  const file = join(folder, 'jobs.csv')
  writeFileSync(file, `id,submit,duration,gpus\n${'a,0,1,x\n'.repeat(100_001)}`)
  expect((await run(['import', file])).stderr).toContain('is not valid, in 100,001 places or more; the first are')
})

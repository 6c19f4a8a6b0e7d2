import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { adapters } from './adapters.ts'
import { BadCases, readCases } from './case-file.ts'
import { belowFloor, describeReports, reportAreas, type Floors } from './report.ts'

/** `npm run cases -- DIR`: exit 0 when all that is supported passes, 1 when not, 2 when the folder or a file is bad. */
const main = (folders: ReadonlyArray<string>): number => {
  const [folder] = folders
  if (folder === undefined || folders.length > 1) {
    console.error('usage: npm run cases -- DIR    (a folder of case files, *.json)')
    return 2
  }
  try {
    const reports = reportAreas(readCases(folder), adapters)
    // Run from the repository's root, where npm runs its scripts: the floors are read from the sources.
    const floors = JSON.parse(readFileSync(join('test', 'cases', 'floors.json'), 'utf8')) as Floors
    const sunk = belowFloor(reports, floors)
    for (const line of [...describeReports(reports), ...sunk]) console.log(line)
    return sunk.length > 0 || reports.some(({ failures }) => failures.length > 0) ? 1 : 0
  } catch (cause) {
    if (!(cause instanceof BadCases)) throw cause
    console.error(`error: ${cause.message}`)
    return 2
  }
}

process.exitCode = main(process.argv.slice(2))

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { quantile } from './ratio.ts'
import { sharedFile } from './shared-file.ts'

export interface WallFigures {
  readonly name: string
  readonly medianS: number
  readonly runsS: ReadonlyArray<number>
  readonly barS: number
}

const runs = 3

/** Whole processes, from start to exit, each with its log on disk: what a person waits. */
export const benchWall = (): ReadonlyArray<WallFigures> => {
  const pods = sharedFile('openb/openb_pod_list_default.csv')
  const nodes = sharedFile('openb/openb_node_list_all_node.csv')
  const itp = sharedFile('itp/cluster04.csv')
  if (!existsSync(pods)) return []
  const fill = ['--format', 'openb', '--node-list', nodes, '--static-fill', '--placement', 'fgd']
  const bare = ['--no-views']
  const greedy = ['--format', 'itp', '--nodes', '80', '--gpus-per-node', '8', '--ordering', 'greedy']
  return [
    wallOf('openb static fill with FGD over 1,523 nodes', 6, [pods, ...fill, ...bare]),
    wallOf('the same, shuffled to 1.3 times the fleet', 6, [
      pods,
      ...fill,
      '--load-to',
      '1.3',
      '--seed',
      '42',
      ...bare,
    ]),
    wallOf('itp cluster04 on 640 GPUs, greedy', 10, [itp, ...greedy, ...bare]),
    wallOf('the same, with its views loaded', 20, [itp, ...greedy]),
  ]
}

const wallOf = (name: string, barS: number, words: ReadonlyArray<string>): WallFigures => {
  const runsS = Array.from({ length: runs }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
    const start = performance.now()
    const binary = join(process.cwd(), 'dist/services/cli/main.js')
    const { status, stderr } = spawnSync(process.execPath, [
      binary,
      'simulate',
      ...words,
      '--data',
      folder,
      '-o',
      'json',
    ])
    const took = (performance.now() - start) / 1000
    rmSync(folder, { recursive: true, force: true })
    if (status !== 0) throw new Error(stderr.toString())
    return took
  })
  return { name, medianS: quantile(runsS, 0.5), runsS, barS }
}

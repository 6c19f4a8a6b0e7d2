import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Tests that run the built binary: before them the build is brought up to date. */
const binary = [
  'test/services/cli/**/*.spec.ts',
  'test/docs/**/*.spec.ts',
  'test/infra/clickhouse/**/*.spec.ts',
  'test/contract/views.spec.ts',
  'test/integration/views-*.spec.ts',
  'test/integration/{reference-adapter,adapter-killed}.spec.ts',
  'test/integration/{ingest-crash,bad-input,bad-environment,bad-facts,up-buses,up-crash,up-digest,whole-faults}.spec.ts',
]

/** Says what was skipped, and why. */
const skipped = './test/support/skipped-reporter.ts'

const shared = { pool: 'forks', testTimeout: 240_000, hookTimeout: 120_000 } as const

/** Where `.ci/run` wants the counts. */
const report = process.env['LEASEHOLD_TEST_REPORT']

export default defineConfig({
  test: {
    reporters: report === undefined ? ['default', skipped] : ['default', skipped, ['json', { outputFile: report }]],
    projects: [
      {
        test: {
          ...{ ...shared, name: 'source', include: ['test/**/*.spec.ts'], exclude: binary },
          // One for each core of a small machine. What runs the binary starts processes of its own, and has it to itself.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...{ ...shared, name: 'binary', include: binary, globalSetup: 'test/support/build.ts' },
          maxWorkers: Math.max(1, availableParallelism() - 1),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})

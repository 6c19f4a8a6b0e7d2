import type { Reporter, TestCollection, TestModule, TestRunEndReason, Vitest } from 'vitest/node'

/**
 * Says at the end of a run what was skipped, and why: a test by what it gave `skip`, a suite or a test that was left out
 * as a whole by its name. A run of some tests only leaves out others because it was asked to, and says nothing.
 */
export default class SkippedReporter implements Reporter {
  private all = true

  onInit(vitest: Vitest): void {
    this.all = vitest.config.testNamePattern === undefined
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, _: unknown, reason: TestRunEndReason): void {
    if (!this.all || reason === 'interrupted') return
    for (const { children, relativeModuleId } of modules)
      for (const name of skippedIn(children)) console.log(`skipped: ${relativeModuleId} > ${name}`)
  }
}

function* skippedIn(children: TestCollection): Generator<string> {
  for (const child of children)
    if (child.type === 'suite' && child.options.mode !== 'skip') yield* skippedIn(child.children)
    else if (child.type === 'suite') yield child.fullName
    else {
      const result = child.result()
      if (result.state !== 'skipped') continue
      yield result.note === undefined ? child.fullName : `${child.fullName}: ${result.note}`
    }
}

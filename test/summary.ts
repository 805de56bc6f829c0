// The last line of a test run, in words that any log reader understands.

import type { Reporter, TestModule } from 'vitest/node'

export const summary: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== 'pending') counts[state]++
      }
      // A file that could not even be collected has no tests to count.
      if (module.errors().length > 0) counts.failed++
    }
    const { passed, failed, skipped } = counts
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  },
}

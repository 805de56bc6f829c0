// The end of a test run: what it left to the other command, what needed a second try, and then the
// counts on a line of their own, in words that any log reader understands.

import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { filesWithForms, worldFiles } from './kinds.ts'

let run: Vitest | undefined

/** What `npm test` leaves to `npm run test:all`; nothing where a run was asked for something else. */
function leftOut(): string {
  const names = run?.projects.map(({ name }) => name) ?? []
  if (!names.includes('server') || names.includes('world')) return ''
  const counts = new Map<string, number>()
  for (const file of worldFiles) {
    const room = file.split('/')[1] ?? ''
    counts.set(room, (counts.get(room) ?? 0) + 1)
  }
  const rooms = [...counts].map(([room, count]) => `${room} ${count}`).join(', ')
  return (
    `\nLeft to \`npm run test:all\`: ${worldFiles.length} files of tests that need world tables, ` +
    `feeds, stores, proxies, benchmarks or proofs (${rooms}), and the full form of ` +
    `${filesWithForms.length} files that ran in their short one.\n`
  )
}

export const summary: Reporter = {
  onInit(vitest) {
    run = vitest
  },
  onTestRunEnd(modules: readonly TestModule[]) {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    const second: string[] = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== 'pending') counts[state]++
        if (test.diagnostic()?.flaky) second.push(`${module.relativeModuleId}: ${test.fullName}`)
      }
      // A file that could not even be collected has no tests to count.
      if (module.errors().length > 0) counts.failed++
    }
    const { passed, failed, skipped } = counts
    const again = second.map((name) => `\nPassed on its second try: ${name}`).join('')
    process.stdout.write(
      `${leftOut()}${again}\n${passed} passed, ${failed} failed, ${skipped} skipped\n`,
    )
  },
}

// Tables for tests of their opening and swapping, which nothing is asked.

import type { Day } from '../../src/base/day.ts'
import type { OpenInSteps } from '../../src/worker/worker-table.ts'

/** Tables that know only whether they are open. */
export function library(): {
  readonly open: OpenInSteps
  readonly isOpen: (path: string) => boolean | undefined
} {
  const state = new Map<string, boolean>()
  return {
    isOpen: (path) => state.get(path),
    open: function* (path) {
      yield
      if (path === 'broken') throw new Error('it is broken')
      state.set(path, true)
      return {
        path,
        id: `id of ${path}`,
        asOf: 1 as Day,
        bytes: 1,
        sources: [],
        coverage: [],
        check: () => undefined,
        answer: () => {
          throw new Error('it answers nothing')
        },
        prepare: () => undefined,
        useLists: () => undefined,
        close: () => state.set(path, false),
      }
    },
  }
}

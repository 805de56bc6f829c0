// Programs that tests of deploy/ call. On a machine of one's own one may be missing, and the test
// says so; where CI is set it runs, and fails without it.

import { spawnSync } from 'node:child_process'
import { describe } from 'vitest'

/** `describe` for what needs `program`, asked with `args` whether it is there. */
export function describeWith(program: string, args: readonly string[], body: () => void): void {
  const wanted = spawnSync(program, args).error === undefined || process.env['CI'] !== undefined
  describe.runIf(wanted)(`with ${program}${wanted ? '' : ' (it is not installed)'}`, () => {
    body()
  })
}

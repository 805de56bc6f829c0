// Programs that tests of deploy/ call. On a machine of one's own one may be missing, and the test
// says so; where CI is set it runs, and fails without it.

import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** CI cannot install them: of kubectl Debian has a version that knows no components. */
const notFromApt: ReadonlySet<string> = new Set(['kubectl'])

/** `describe` for what needs `program`, asked with `args` whether it is there. */
export function describeWith(program: string, args: readonly string[], body: () => void): void {
  const isThere = spawnSync(program, args).error === undefined
  const wanted = isThere || (process.env['CI'] !== undefined && !notFromApt.has(program))
  // Without it not even collected, for a body may call the program then.
  const collected = wanted ? body : missing
  describe.runIf(wanted)(`with ${program}${wanted ? '' : ' (it is not installed)'}`, () => {
    collected()
  })
}

function missing(): void {
  it('is tried', () => {
    expect.unreachable()
  })
}

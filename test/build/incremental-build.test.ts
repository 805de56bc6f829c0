// A build where the day before has kept what it read gives byte for byte the table of a whole build.
// That a build of the world does so through the command line, with its thread, is in
// test/world/world-build.world.test.ts.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newBuildStages } from '../../build/build-stages.ts'
import { compileTable } from '../../build/compile-table.ts'
import type { Day } from '../../src/base/day.ts'
import { writeDataSets } from './data-sets.ts'
import { feedOf, fileOf } from './acceptance/acceptance-sample.ts'
import { today, useFolder } from './history/history-sample.ts'
import { encodedTable } from '../table/encoded-table.ts'

describe('an incremental build', () => {
  const folder = useFolder()
  const feed = { ...feedOf({ kind: 'vpn', weight: 0.6, assurance: 'weak' }), id: 'vpn-a' }

  async function build(day: Day, addresses: readonly string[], cache?: string): Promise<Buffer> {
    const path = join(folder(), `list-${day}.txt`)
    writeFileSync(path, addresses.map((address) => `${address}\n`).join(''))
    const { assembled } = await compileTable(
      {
        snapshots: [{ feed, file: fileOf('list.txt'), path, day }],
        asOf: day,
        history: undefined,
        ...writeDataSets(folder()),
        ...(cache === undefined ? {} : { cache }),
      },
      { history: undefined },
      newBuildStages(() => undefined),
    )
    return Buffer.from(encodedTable(assembled.content).bytes)
  }

  it('gives the table of a whole one, whatever became of what was kept', async () => {
    const cache = join(folder(), 'cache')
    mkdirSync(cache)
    const yesterday = (today - 1) as Day
    await build(yesterday, ['9.1.0.1', '9.1.0.2'], cache)
    const whole = await build(today, ['9.1.0.2', '11.1.0.1'])
    expect((await build(today, ['9.1.0.2', '11.1.0.1'], cache)).equals(whole)).toBe(true)
    const kept = readdirSync(cache).toSorted()
    expect(kept.map((name) => name.split('-')[0])).toEqual(['networks', 'places'])
    for (const name of kept) {
      writeFileSync(join(cache, name), readFileSync(join(cache, name)).subarray(0, 99))
    }
    expect((await build(today, ['9.1.0.2', '11.1.0.1'], cache)).equals(whole)).toBe(true)
  })
})

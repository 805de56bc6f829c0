// An address that feeds of every kind name at once. The kinds beside the strongest count 10 points
// together, so the reason that takes the rest away has more points than any other.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newBuildStages } from '../../build/build-stages.ts'
import { compileTable } from '../../build/compile-table.ts'
import type { SnapshotFile } from '../../build/evidence/read-snapshots.ts'
import { writeTable } from '../../build/write/write-table.ts'
import { answerWithInsights } from '../../src/table/explain/insights.ts'
import { openTable } from '../../src/table/open-table.ts'
import { writeDataSets } from './data-sets.ts'
import { feedOf, fileOf } from './acceptance/acceptance-sample.ts'
import { today, useFolder } from './history/history-sample.ts'

const kinds = ['tor', 'residential_proxy', 'proxy', 'vpn', 'hosting'] as const
const address = '9.1.0.1'
const folder = useFolder()

it('is no table that fails its own verification: the points of its reasons add up', async () => {
  const snapshots = kinds.map((kind): SnapshotFile => {
    const feed = { ...feedOf({ kind, weight: 1, assurance: 'direct' }), id: kind, group: kind }
    const path = join(folder(), kind, 'list.txt')
    mkdirSync(join(folder(), kind))
    writeFileSync(path, `${address}\n`)
    return { feed, file: fileOf('list.txt'), path, day: today }
  })
  const { assembled } = await compileTable(
    { snapshots, asOf: today, history: undefined, ...writeDataSets(folder()) },
    { history: undefined },
    newBuildStages(() => undefined),
  )
  const path = join(folder(), 'table.iprisk')
  writeTable(path, assembled.content)
  const table = openTable(path)
  const { insights, ...answer } = answerWithInsights({ ...table, builtMs: 0 }, address)!
  const { reasons } = insights
  table.close()
  expect(answer.signals).toMatchObject(Object.fromEntries(kinds.map((kind) => [kind, true])))
  const limited = reasons.filter(({ code }) => code === 'others_limited')
  expect(limited).toHaveLength(1)
  expect(limited[0]?.points).toBeLessThan(-128)
  expect(reasons.reduce((sum, { points }) => sum + points, 0)).toBe(answer.risk_score)
  expect(answer.reasons).toEqual(reasons.map(({ code }) => code))
})

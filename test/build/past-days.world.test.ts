// `explain --at` answers as a build of that day: the proof `past-days` in its shortest form, on lists
// of two feeds over two weeks.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pastDays } from '../../bench/faults/compiler/past-days.ts'
import { describeFeeds, feedsFolder } from '../feeds.ts'
import { removeFolder } from '../remove-folder.ts'

describeFeeds('the table of a past day', () => {
  it('answers as the table of a build on that day', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iprisk-past-days-'))
    const say = (): undefined => undefined
    const { facts, faults } = await pastDays({ form: 'ci', folder, feeds: feedsFolder, say })
    expect(faults, JSON.stringify(facts)).toEqual([])
    expect(facts).toMatchObject({ 'addresses a day': 500, 'answers that differ': 0 })
    removeFolder(folder)
  })
})

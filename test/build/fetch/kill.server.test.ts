// Runs that are killed for real, at chance moments: whatever the moment, the store holds one whole
// set, and the next run goes on from it at once.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { acquireFileLock } from '../../../src/base/system/file-lock.ts'
import { packageRoot } from '../../../src/base/package-root.ts'
import { readStoredSnapshots, recoverSnapshots } from '../../../build/fetch/snapshot-store.ts'
import { newFolder } from './site.ts'

const dist = pathToFileURL(join(packageRoot, 'dist')).href

/** Takes the lock, puts set after set in place and says so of each: in each, both files hold the set's number. */
const program = `
  import { createHash } from 'node:crypto'
  import { writeFileSync } from 'node:fs'
  import { acquireFileLock } from '${dist}/src/base/system/file-lock.js'
  import { commitSnapshotSet } from '${dist}/build/fetch/snapshot-store.js'
  const folder = process.argv[1]
  if (acquireFileLock(folder + '/.lock') === undefined) process.exit(9)
  for (let set = Number(process.argv[2]); ; set++) {
    const content = 'set ' + set
    const sha256 = createHash('sha256').update(content).digest('hex')
    const record = { sha256, bytes: content.length, day: 20000 + set, from: 'publisher',
      url: 'https://a.example/', fetchedAt: '2026-08-22T00:00:00.000Z' }
    const names = ['a.txt', 'b.txt', 'c.txt']
    const next = {}
    for (const name of names) {
      const temporary = '.' + name + '.' + set + '.tmp'
      writeFileSync(folder + '/f/' + temporary, content)
      next[name] = { ...record, temporary }
    }
    await commitSnapshotSet(folder, 'f', next)
    console.log('done')
  }
`

/** Odd, so that the last run is cleared up after. */
const kills = 19

describe('a run that is killed', () => {
  it('leaves one whole set, and its lock to the next', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'f'))
    let newest = 0
    let pending = 0
    const left: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      const args = ['--input-type=module', '-e', program, folder, String(newest + 1)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
      expect(child.exitCode, 'the dead run still held the lock').toBeNull()
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 40))
      child.kill('SIGKILL')
      await once(child, 'exit')
      if (readdirSync(join(folder, 'f')).includes('snapshots.next.json')) pending++
      const problems: string[] = []
      const stored = await readStoredSnapshots(folder, 'f', (text) => problems.push(text))
      expect(problems).toEqual([])
      const set = (stored[0]?.day ?? 0) - 20_000
      const contents = stored.map(({ path }) => readFileSync(path, 'utf8'))
      expect(contents).toEqual(Array.from({ length: 3 }, () => `set ${set}`))
      expect(set).toBeGreaterThan(newest)
      newest = set
      // Every other time the next run clears up first, as it does; else it must bear the rest.
      if (kill % 2 === 0) {
        await recoverSnapshots(folder, 'f')
        left.push(readdirSync(join(folder, 'f')).length)
      }
    }
    expect(new Set(left)).toEqual(new Set([4]))
    // Kills that never hit a set in the making would prove nothing.
    expect(pending).toBeGreaterThan(0)
    const lock = acquireFileLock(join(folder, '.lock'))
    expect(lock).toBeDefined()
    lock?.release()
    writeFileSync(join(folder, 'f', 'a.txt'), 'other')
    expect(await readStoredSnapshots(folder, 'f')).toHaveLength(2)
  })
})

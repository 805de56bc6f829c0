// The file of a sample: read as it was written, for its owner alone, and gone where there is
// nothing.

import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Day, parseDay } from '../../src/base/day.ts'
import {
  readSample,
  removeOldSamples,
  type SampledCheck,
  sampleFilePath,
  writeSample,
} from '../../src/observe/sample-file.ts'

const state = mkdtempSync(join(tmpdir(), 'iprisk-sample-'))
const path = sampleFilePath(state, 8080)
afterAll(() => rmSync(state, { recursive: true }))

const checks: readonly SampledCheck[] = Array.from({ length: 10_000 }, (_, i) => ({
  lot: Math.random(),
  day: ((parseDay('2026-08-22') as Day) + (i % 30)) as Day,
  policy: i % 3 === 0 ? '' : 'login',
  address: i % 2 === 0 ? `192.0.2.${i % 256}` : `2001:db8::${i.toString(16)}`,
}))

describe('the file of a sample', () => {
  it('is read as it was written, by its owner alone', async () => {
    await writeSample(path, checks)
    expect(readSample(path)).toEqual(checks)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(readdirSync(dirname(path))).toEqual(['8080.sample'])
  })

  it('loses what is no line of it, and nothing else', async () => {
    await writeSample(path, checks.slice(0, 2))
    appendFileSync(path, 'x 2026-08-22 - 192.0.2.1\n0.5 2026-02-30 - 192.0.2.1\n0.5 2026-08-')
    expect(readSample(path)).toEqual(checks.slice(0, 2))
  })

  it('is gone where nothing is sampled, and when nobody has written it for thirty days', async () => {
    await writeSample(path, [])
    expect(existsSync(path)).toBe(false)
    expect(readSample(path)).toEqual([])
    await writeSample(path, checks)
    const other = sampleFilePath(state, 9)
    await writeSample(other, checks)
    const days = (count: number): Date => new Date(Date.now() - count * 86_400_000)
    utimesSync(path, days(31), days(31))
    utimesSync(other, days(29), days(29))
    await removeOldSamples(state, Date.now())
    expect([existsSync(path), existsSync(other)]).toEqual([false, true])
  })
})

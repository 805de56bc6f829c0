// The trial of a new table: what it refuses, what it lets pass, and what a process that opens the
// table is asked.

import { describe, expect, it } from 'vitest'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTable } from '../../build/write/write-table.ts'
import { openTable } from '../../src/table/open-table.ts'
import { firstDifference, acceptanceCheck, hasNetwork } from '../../src/compare/acceptance-check.ts'
import { listed, smallContent } from '../table/small-table.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-trial-'))

function tableOf(name: string, entries: typeof listed) {
  const path = join(folder, name)
  writeTable(path, smallContent(entries))
  return openTable(path)
}

const plain = tableOf('plain', listed)
const canary = tableOf('canary', [...listed, ['8.8.8.8', 'tor', '']])

describe('tryTable', () => {
  it('has nothing against the same content, nor against a few more entries', () => {
    expect(acceptanceCheck(plain, plain)).toMatchObject({ reasons: [], against: null })
    const more = tableOf('more', [...listed, ['9.3.0.0/16', 'vpn', 'Example VPN']])
    expect(acceptanceCheck(more, plain).reasons).toEqual([])
    more.close()
  })

  it('refuses what misjudges a canary that the table in use judges right', () => {
    const { reasons, against } = acceptanceCheck(canary, plain)
    expect(reasons).toEqual([
      expect.stringContaining('the canary 8.8.8.8 (Google Public DNS, public resolver) is called'),
    ])
    expect(against).toBe('canary')
    expect(acceptanceCheck(plain, canary).reasons).toEqual([])
  })

  it('only warns of a canary that both misjudge, and where there is no table in use', () => {
    // The small table calls 9.9.9.9 a proxy.
    expect(acceptanceCheck(plain, plain).cautions).toEqual([expect.stringContaining('9.9.9.9')])
    const first = acceptanceCheck(canary, undefined)
    expect(first.reasons).toEqual([])
    expect(first.cautions).toEqual([
      expect.stringContaining('8.8.8.8'),
      expect.stringContaining('9.9.9.9'),
    ])
  })

  it('refuses an absurd table: another world', () => {
    const absurd = tableOf('absurd', [
      ...listed,
      ['9.0.0.0/8', 'vpn', ''],
      ['12.0.0.0/8', 'proxy', ''],
    ])
    expect(acceptanceCheck(absurd, plain).reasons.join()).toMatch(
      /sampled verdicts \(6\d %\) differ/,
    )
    absurd.close()
    // No canary lies there.
    const changed = tableOf('changed', [...listed, ['11.0.0.0/8', 'tor', '']])
    expect(acceptanceCheck(changed, plain).reasons).toHaveLength(1)
    expect(acceptanceCheck(changed, plain).against).toBe('changed')
    changed.close()
  })
})

describe('what is known of a table', () => {
  it('tells it from another one', () => {
    const { known } = acceptanceCheck(plain, undefined)
    expect(known.length).toBeGreaterThanOrEqual(20)
    expect(firstDifference(plain, known)).toBeUndefined()
    expect(firstDifference(canary, known)).toBe(known[0]?.address)
  })
})

it('knows of a network what the answer says of it', () => {
  const texts = ['9.1.2.3', '8.8.8.8', '127.0.0.1', '::1', '::ffff:9.1.2.3', '2002:901:203::', 'x']
  for (let i = 0; i < 256; i += 1) texts.push(`${i}.1.2.3`, `2${i.toString(16)}::1`)
  const found = texts.filter((text) => hasNetwork(plain, text))
  expect(found).toEqual(texts.filter((text) => (plain.check(text)?.network ?? null) !== null))
  expect(found.length).toBeGreaterThan(1)
  expect(found.length).toBeLessThan(texts.length)
})

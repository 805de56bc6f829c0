// Two hundred real addresses and what is answered to each, reviewed by eye against MODEL.md and
// common knowledge. A change of a rule, a table or a parser that changes one of them shows here,
// and is either mended or looked at and taken over:
//
//   IPRISK_TEST_UPDATE_GOLDEN=1 npx vitest run --project world test/golden
//
// addresses.json is kept by hand; answers.json is written by that command and by nothing else.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CheckAnswer } from '../../src/api/check-answer.ts'
import { levels } from '../../src/model/kind.ts'
import { type OpenTable, openTable } from '../../src/table/open-table.ts'
import { describeFeeds } from '../feeds.ts'
import { worldTable } from '../world/world-tables.ts'

const addressesFile = fileURLToPath(new URL('addresses.json', import.meta.url))
const answersFile = fileURLToPath(new URL('answers.json', import.meta.url))
const updating = process.env['IPRISK_TEST_UPDATE_GOLDEN'] === '1'

/** What of an answer is kept: all that rules, tables and feeds decide. */
interface Golden {
  readonly classification: string
  readonly score: number
  readonly signals: readonly string[]
  readonly network: CheckAnswer['network']
  readonly place: { readonly country_code: string; readonly city: string } | null
  readonly proxy: string | null
  readonly bot: string | null
  readonly reasons: readonly string[]
}

function goldenOf(answer: CheckAnswer): Golden {
  const { network, location, proxy, bot } = answer
  return {
    classification: answer.classification,
    score: answer.risk_score,
    signals: Object.entries(answer.signals).flatMap(([name, on]) => (on ? [name] : [])),
    network,
    place: location && { country_code: location.country_code, city: location.city },
    proxy: proxy && `${proxy.type}, ${proxy.provider || 'unknown'}, ${proxy.confidence}`,
    bot: bot && `${bot.category}, ${bot.provider}, ${bot.confidence}`,
    reasons: answer.reasons,
  }
}

function askedByGroup(): ReadonlyMap<string, readonly string[]> {
  const groups = JSON.parse(readFileSync(addressesFile, 'utf8')) as Record<string, string[]>
  return new Map(Object.entries(groups))
}

/** One line an answer, so that a change is one line of a diff. */
function written(answers: ReadonlyMap<string, Golden>): string {
  const lines = [...answers].map(
    ([address, golden]) => `  ${JSON.stringify(address)}: ${JSON.stringify(golden)}`,
  )
  return `{\n${lines.join(',\n')}\n}\n`
}

describeFeeds('the golden answers', () => {
  let table: OpenTable
  beforeAll(async () => {
    table = openTable(await worldTable())
  })
  afterAll(() => table.close())

  const asked = [...askedByGroup().values()].flat()
  const ask = (address: string): CheckAnswer => {
    const answer = table.check(address)
    if (answer === undefined) throw new Error(`${address} in addresses.json is no address`)
    return answer
  }

  it('are asked of two hundred different addresses or more', () => {
    expect(asked.length).toBeGreaterThanOrEqual(200)
    expect(new Set(asked).size).toBe(asked.length)
  })

  it('are what they were', () => {
    const got = new Map(asked.map((address) => [address, goldenOf(ask(address))]))
    if (updating) writeFileSync(answersFile, written(got))
    const kept = JSON.parse(readFileSync(answersFile, 'utf8')) as Record<string, Golden>
    expect(Object.fromEntries(got)).toEqual(kept)
  })

  it('have the level of their score', () => {
    const floors = [0, 25, 50, 75, 90]
    const wrong = asked
      .map((address) => ask(address))
      .filter(({ risk_score, risk_level }) => {
        const band = floors.findLastIndex((floor) => risk_score >= floor)
        return levels[band] !== risk_level
      })
    expect(wrong).toEqual([])
  })
})

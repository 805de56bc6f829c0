// Where residential proxy and VPN meet: how many addresses are mixed, and who says what of them.
//
//   npm run bench -- mixed TABLE…              a page in Markdown, on standard output
//   npm run bench -- mixed --out FILE TABLE…   or in a file
//
// Without a table, those that the tests build over the sixty real days.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type MixedExample, type MixedFindings, findMixed, mixedNearness } from './mixed.ts'
import { loadCatalogue } from '../../build/catalogue/load-catalogue.ts'
import { catalogueFolder } from '../../build/run-build.ts'
import { formatDay } from '../../src/base/day.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { exitCodes } from '../../src/cli/terminal/io.ts'
import { openTable } from '../../src/table/open-table.ts'
import { tablePath } from '../harness/option.ts'
import { runProgram } from '../harness/program.ts'

const examplesMax = 10
const ownTables = ['2026-08-22', '2025-11-22'].map((day) =>
  join(packageRoot, 'dist/world', `${day}.history.iprisk`),
)

interface OfTable extends MixedFindings {
  readonly title: string
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { out: { type: 'string' } },
  })
  const own = ownTables.filter((path) => existsSync(path))
  const paths = positionals.length > 0 ? positionals : own
  const tables = (paths.length > 0 ? paths : [undefined]).map((path): OfTable => {
    const table = openTable(tablePath(path))
    try {
      return { title: formatDay(table.asOf), ...findMixed(table, examplesMax) }
    } finally {
      table.close()
    }
  })
  const page = `${pageOf(tables).join('\n')}\n`
  if (values.out === undefined) process.stdout.write(page)
  else writeFileSync(values.out, page)
  return exitCodes.done
}

function pageOf(tables: readonly OfTable[]): readonly string[] {
  return [
    '# Mixed',
    '',
    'Written by `npm run bench -- mixed --out docs/mixed.md`, not by hand: from the tables of the tests,',
    'which are built from all shared feeds over the sixty real days of history.',
    '',
    'An address is `mixed` where lists of residential proxies and lists of VPNs contradict each',
    'other (contract 3.7): both of at least medium confidence, both seen within 7 days, neither from',
    'an operator’s own list. Nearly so are addresses with both signals, and those with evidence of',
    'both kinds of which one is too old or too weak for its signal.',
    '',
    '| as of | | IPv4 addresses | IPv6 /64s |',
    '|---|---|---|---|',
    ...tables.flatMap(({ title, counts }) =>
      mixedNearness.map((meeting) => {
        const { ipv4, ipv6 } = counts[meeting]
        return `| ${title} | ${meeting} | ${ipv4.toLocaleString('en-US')} | ${ipv6} |`
      }),
    ),
    '',
    ...whyRare(),
    ...tables.flatMap(({ title, examples }) => examples.flatMap((met) => exampleOf(title, met))),
  ]
}

/** Which lists could make a VPN of medium confidence that no operator has named. */
function whyRare(): readonly string[] {
  const third = loadCatalogue(catalogueFolder).filter(
    ({ kind, assurance }) => kind === 'vpn' && assurance !== 'direct',
  )
  const names = third.map(({ id, assurance }) => `\`${id}\` (${assurance})`).join(', ')
  const solid = third.some(({ assurance }) => assurance === 'good')
  if (solid || new Set(third.map(({ group }) => group)).size > 1) return []
  return [
    `Of the catalogue’s VPN feeds one alone is no operator’s own list: ${names}. One weak list is of`,
    'low confidence, so it takes another independent list of VPNs, an operator’s own feed in the',
    'catalogue, before any address can be mixed; what is below is all there is of the two kinds.',
    '',
  ]
}

function exampleOf(
  title: string,
  { address, meeting, explanation }: MixedExample,
): readonly string[] {
  const { answer, reasons, evidence } = explanation
  const { classification, risk_score: score, network } = answer
  const where = network === null ? 'no network' : `AS${network.asn} ${network.organization}`
  const points = reasons.map(({ code, points }) => `${code} ${points}`).join(', ')
  return [
    `## ${address}, as of ${title}: ${meeting}`,
    '',
    `${classification}, ${score}; ${where}. ${points}.`,
    '',
    '| feed | kind | matched | first seen | last seen | days |',
    '|---|---|---|---|---|---|',
    ...evidence.map((one) => {
      const { feed, kind, matched, first_seen, last_seen, days_seen, days_observed } = one
      const days = `${days_seen} of ${days_observed}`
      return `| ${feed} | ${kind} | ${matched} | ${first_seen} | ${last_seen} | ${days} |`
    }),
    '',
  ]
}

await runProgram(main)

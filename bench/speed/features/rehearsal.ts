// `npm run bench -- rehearsal`: how long `iprisk policy test` takes for an access log of so many
// lines, the whole command in a process of its own: alone, and against the policies that are live.
//
//   --lines 1000000
//   --rounds 3         the figure is the median
//   --table FILE       the table of the tests, or data/table/world.iprisk, by default
//   --smoke            whether it works, not how fast
//   --json             the report as JSON
//   --save             keep it in bench/runs/

import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newAddressWords } from '../../../src/ip/address.ts'
import { formatAddress } from '../../../src/ip/format-address.ts'
import { defaultPoliciesText } from '../../../src/policy/default-policies.ts'
import { runChild, cliProgram } from '../../harness/child.ts'
import { readFlags, tablePath } from '../../harness/option.ts'
import { runProgram, showReport, temporaryFolder } from '../../harness/program.ts'
import { newRandom } from '../../harness/random.ts'
import { type RunHead, runHead } from '../../harness/run.ts'
import { median } from '../../harness/statistics.ts'

export interface RehearsalReport extends RunHead {
  readonly kind: 'rehearsal'
  readonly lines: number
  readonly rows: readonly { readonly name: string; readonly seconds: number }[]
}

const linesAtOnce = 10_000
const timeoutMs = 600_000

/** Half of the rules of `policy init`: what a change takes away. */
const live = {
  policies: {
    default: {
      rules: [{ name: 'critical-score', condition: 'risk_score >= 90', action: 'block' }],
      otherwise: 'allow',
    },
  },
}

/** An access log of addresses from anywhere, each line another one. */
function writeLog(file: string, lines: number): void {
  const random = newRandom(1)
  const words = newAddressWords()
  writeFileSync(file, '')
  for (let at = 0; at < lines; at += linesAtOnce) {
    const some = Array.from({ length: Math.min(linesAtOnce, lines - at) }, () => {
      words[0] = 0x0100_0000 + (random.word() % 0xdf00_0000)
      const request = '"GET /login HTTP/1.1" 200 512 "-" "Mozilla/5.0"'
      return `${formatAddress(4, words)} - - [22/Aug/2026:00:00:01 +0000] ${request}\n`
    })
    appendFileSync(file, some.join(''))
  }
}

async function measure(): Promise<number> {
  const flags = readFlags({
    numbers: {
      lines: { max: 10_000_000, otherwise: 1_000_000, smoke: 1000 },
      rounds: { max: 100, otherwise: 3, smoke: 1 },
    },
    texts: ['table'],
    switches: ['smoke', 'json', 'save'],
  })
  const folder = temporaryFolder('rehearsal')
  const [log, policies, before] = ['access.log', 'policies.json', 'live.json'].map((name) =>
    join(folder, name),
  )
  writeLog(log!, flags.lines)
  writeFileSync(policies!, defaultPoliciesText({ observe: false }))
  writeFileSync(before!, JSON.stringify(live))
  const how = ['--log', 'combined', '--json', '--table', tablePath(flags.table)]
  const test = [cliProgram, 'policy', 'test', log!, ...how, '--policies', policies!]
  const kinds = { alone: [], 'against those that are live': ['--against', before!] }
  const times = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]))
  for (let round = 0; round < flags.rounds; round += 1) {
    for (const [name, more] of Object.entries(kinds)) {
      const from = performance.now()
      await runChild([process.execPath, ...test, ...more], { timeoutMs, cwd: folder })
      times.get(name)!.push((performance.now() - from) / 1000)
    }
  }
  const report: RehearsalReport = {
    ...runHead(process.argv.slice(2)),
    kind: 'rehearsal',
    lines: flags.lines,
    rows: [...times].map(([name, all]) => ({ name, seconds: median(all) })),
  }
  showReport('rehearsal', report, flags)
  return 0
}

await runProgram(measure)

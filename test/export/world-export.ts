// Exports of a world table by the command line, and the 200,000 addresses of both families by which
// they are held to `check`: half of them anywhere in announced space, half at the ends of pieces.

import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newRandom } from '../../bench/harness/random.ts'
import {
  defaultSeed,
  drawAddresses,
  scenarioNamed,
  spaceOfScenario,
} from '../../bench/speed/lookups/scenario.ts'
import { walkFamily } from '../../src/export/piece-walk.ts'
import { formatAddress } from '../../src/ip/format-address.ts'
import type { OpenTable } from '../../src/table/open-table.ts'
import { programPath } from '../cli/program.ts'
import { isIpv4Space, isLeftOut } from './small-export.ts'

const run = promisify(execFile)

export interface WorldExport {
  readonly out: string
  readonly rows: number
  readonly bytes: number
  readonly seconds: number
}

const folder = mkdtempSync(join(tmpdir(), 'iprisk-exports-'))

/** The file's name, and the options besides. */
export async function exportWorld(
  table: string,
  name: string,
  options: readonly string[],
): Promise<WorldExport> {
  const out = join(folder, name)
  const args = [programPath, 'export', '--table', table, '--out', out, '--json', ...options]
  const { stdout, stderr } = await run(process.execPath, args, { cwd: folder })
  process.stderr.write(`${name}: ${stderr.trimEnd().split('\n').at(0)}\n`)
  return JSON.parse(stdout) as WorldExport
}

const sampled = 200_000

export function worldAddresses(table: OpenTable): readonly string[] {
  const { views } = table.reader
  const anywhere = ['ipv4-uniform', 'ipv6-uniform'].flatMap((name) => {
    const scenario = scenarioNamed(name)!
    const space = spaceOfScenario(views, scenario)
    return drawAddresses(scenario, { space, count: sampled / 4, seed: defaultSeed }).texts
  })
  const random = newRandom(22)
  const ends: string[] = []
  for (const family of [4, 6] as const) {
    const pieces = family === 4 ? views.ipv4_starts.length : views.ipv6_records.length
    const chance = sampled / 4 / pieces
    walkFamily(views, family, (first) => {
      if (random.fraction() > chance) return
      const words = family === 4 ? first.slice(3) : first.slice()
      // The piece's first address, or the last one of the piece before.
      if (random.below(2) === 1 && words.at(-1)! > 0) words[words.length - 1]! -= 1
      ends.push(formatAddress(family, words))
    })
  }
  return [...anywhere, ...ends].filter((ip) => !isLeftOut(ip) && !isIpv4Space(ip))
}

// The sample of an operator's traffic on the disk: lines of `SampledCheck` in a file for its
// owner alone, named after the server's port, in a folder of the state folder. Whole addresses are
// in no other file of a server that was not told to write them.
//
// Invariant: the file is complete (base/system/atomic-file.ts).

import { readFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Day, formatDay, msPerDay, parseDay } from '../base/day.ts'
import { innermostAddress } from '../ip/embedded-text.ts'
import { makeOwnFolder, replaceOwnFile } from '../base/system/own-files.ts'

export const sampledCheckDaysMax = 30

const folderOf = (state: string): string => join(state, 'traffic')

export function sampleFilePath(state: string, port: number): string {
  return join(folderOf(state), `${port}.sample`)
}

/** What a file holds; nothing where there is none. */
export function readSample(path: string): readonly SampledCheck[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return text.split('\n').flatMap((line) => parseSampleLine(line) ?? [])
}

/** Lines of one write; the loop turns between two. */
const writtenAtOnce = 4096

/** Writes the file anew; without checks it is removed. */
export async function writeSample(path: string, checks: readonly SampledCheck[]): Promise<void> {
  if (checks.length === 0) {
    await rm(path, { force: true })
    return
  }
  makeOwnFolder(join(path, '..'))
  await replaceOwnFile(path, piecesOf(checks))
}

function* piecesOf(checks: readonly SampledCheck[]): Generator<string> {
  for (let from = 0; from < checks.length; from += writtenAtOnce) {
    yield checks
      .slice(from, from + writtenAtOnce)
      .map(sampleLine)
      .join('')
  }
}

/**
 * Forgets an innermost address in the files of servers that do not run; returns how many checks it
 * had. A server that runs forgets it itself, or its next write would bring it back.
 */
export async function forgetSampled(state: string, address: string): Promise<number> {
  let count = 0
  for (const name of await readdir(folderOf(state)).catch(() => [])) {
    if (!name.endsWith('.sample')) continue
    const path = join(folderOf(state), name)
    const checks = readSample(path)
    const left = checks.filter((one) => innermostAddress(one.address) !== address)
    if (left.length < checks.length) await writeSample(path, left)
    count += checks.length - left.length
  }
  return count
}

/** Removes files that no server has written for so long that they hold nothing young enough. */
export async function removeOldSamples(state: string, nowMs: number): Promise<void> {
  const folder = folderOf(state)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    const ageMs = nowMs - (found?.mtimeMs ?? nowMs)
    if (ageMs > sampledCheckDaysMax * msPerDay) await rm(path, { force: true })
  }
}

/**
 * A check that the sample of an operator's traffic holds, and its line in the sample's file. Each
 * has a lot, a number drawn from 0 to below 1 when it was answered: the sample keeps the lowest
 * lots, so that each check of the days that it covers has the same chance, whichever worker
 * answered it.
 *
 *   0.00041 2026-08-22 login 192.0.2.1       lot, day, policy (- for none), address
 */
export interface SampledCheck {
  readonly lot: number
  /** On which it was answered. */
  readonly day: Day
  /** The policy that decided it; `''` for none. */
  readonly policy: string
  /** As judged, canonical. */
  readonly address: string
}

function sampleLine({ lot, day, policy, address }: SampledCheck): string {
  return `${lot} ${formatDay(day)} ${policy === '' ? '-' : policy} ${address}\n`
}

/** `undefined` for what is no such line. */
function parseSampleLine(line: string): SampledCheck | undefined {
  const [lot = '', dayText = '', policy = '', address = '', ...rest] = line.split(' ')
  const day = parseDay(dayText)
  const drawn = Number(lot)
  if (day === undefined || rest.length > 0 || address === '' || !(drawn >= 0 && drawn < 1)) {
    return undefined
  }
  return { lot: drawn, day, policy: policy === '-' ? '' : policy, address }
}

// The traffic sample on disk: lines of `SampledCheck` in a file for its owner only, named after the
// server's port, in the state folder. By default, no other file of a server has whole addresses.
// Written atomically (base/system/atomic-file.ts).

import { readFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Day, formatDay, msPerDay, parseDay } from '../base/day.ts'
import { innermostAddress } from '../ip/embedded-text.ts'
import { makeOwnFolder, replaceOwnFile } from '../base/system/own-files.ts'

export const sampledCheckDaysMax = 30

const folderOf = (state: string): string => join(state, 'traffic')

export const sampleFilePath = (state: string, port: number): string =>
  join(folderOf(state), `${port}.sample`)

/** Empty if there is no file. */
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

/** Lines per write; the event loop turns in between. */
const writtenAtOnce = 4096

/** Rewrites the file, or removes it without checks. */
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
 * Forgets an innermost address in the files of stopped servers; returns the number of checks. A
 * running server forgets it itself, or its next write would bring it back.
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

/** Removes files not written for so long that everything in them is too old. */
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
 * A sampled check, and its line in the file. Each has a lot drawn from 0 to below 1; the sample
 * keeps the lowest, so that each check has the same chance, whichever worker answered it.
 *
 *   0.00041 2026-08-22 login 192.0.2.1       lot, day, policy (- for none), address
 */
export interface SampledCheck {
  readonly lot: number
  readonly day: Day
  /** The deciding policy; `''` for none. */
  readonly policy: string
  /** Canonical text of the judged address. */
  readonly address: string
}

const sampleLine = ({ lot, day, policy, address }: SampledCheck): string =>
  `${lot} ${formatDay(day)} ${policy === '' ? '-' : policy} ${address}\n`

/** `undefined` for an invalid line. */
function parseSampleLine(line: string): SampledCheck | undefined {
  const [lot = '', dayText = '', policy = '', address = '', ...rest] = line.split(' ')
  const day = parseDay(dayText)
  const drawn = Number(lot)
  if (day === undefined || rest.length > 0 || address === '' || !(drawn >= 0 && drawn < 1)) {
    return undefined
  }
  return { lot: drawn, day, policy: policy === '-' ? '' : policy, address }
}

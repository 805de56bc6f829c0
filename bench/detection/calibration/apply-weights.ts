// Writes measured weights and half-lives into the catalogue's files: the number behind `"weight":`
// and the field `half_life_days`, nothing else, so that a file keeps its form and its comments stay
// where they are.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HalfLives } from '../../../src/model/evidence.ts'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { replaceFile } from '../../../src/base/system/atomic-file.ts'

/** The feed's own, not that of a part of it, which is set in deeper. */
const weightField = /^((?: {2})?"weight"\s*:\s*)(\d+(?:\.\d+)?)/gm

/** The text with that weight. Throws `bad_catalogue` where there is not exactly one. */
export function withWeight(text: string, weight: number, path: string): string {
  const found = text.match(weightField)
  if (found?.length !== 1) {
    throw new IpriskError({
      code: 'bad_catalogue',
      message: `${path}: it should have "weight" once, but has it ${found?.length ?? 0} times.`,
      fault: 'input',
    })
  }
  return text.replace(weightField, `$1${weight}`)
}

const halfLivesField = /^ {2}"half_life_days"\s*:\s*\{[^}]*\},\n/m

/** The text with those half-lives behind the weight, in the place of any that it had. */
export function withHalfLives(text: string, halfLives: HalfLives): string {
  const without = text.replace(halfLivesField, '')
  const rows = Object.entries(halfLives).map(([name, days]) => `    "${name}": ${days}`)
  if (rows.length === 0) return without
  const field = `  "half_life_days": {\n${rows.join(',\n')}\n  },\n`
  return without.replace(/^( {2}"weight"\s*:.*\n)/m, `$1${field}`)
}

/** Rewrites the feeds whose weight or half-lives differ; gives their ids. */
export async function applyWeights(
  folder: string,
  weights: ReadonlyMap<string, number>,
  halfLives: ReadonlyMap<string, HalfLives> = new Map(),
): Promise<readonly string[]> {
  const changed: string[] = []
  for (const id of new Set([...weights.keys(), ...halfLives.keys()])) {
    const path = join(folder, `${id}.json`)
    const text = readFileSync(path, 'utf8')
    const weight = weights.get(id)
    const weighed = weight === undefined ? text : withWeight(text, weight, path)
    const lives = halfLives.get(id)
    const mended = lives === undefined ? weighed : withHalfLives(weighed, lives)
    if (mended === text) continue
    await replaceFile(join(folder, `${id}.json`), mended)
    changed.push(id)
  }
  return changed
}

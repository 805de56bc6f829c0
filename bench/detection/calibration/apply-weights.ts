// Writes measured weights into the catalogue's files: the number behind `"weight":` and nothing
// else, so that a file keeps its form and its comments stay where they are.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { replaceFile } from '../../../src/base/system/disk.ts'

const weightField = /("weight"\s*:\s*)(\d+(?:\.\d+)?)/g

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

/** Rewrites the feeds whose weight differs; gives their ids. */
export async function applyWeights(
  folder: string,
  weights: ReadonlyMap<string, number>,
): Promise<readonly string[]> {
  const changed: string[] = []
  for (const [id, weight] of weights) {
    const path = join(folder, `${id}.json`)
    const text = readFileSync(path, 'utf8')
    const mended = withWeight(text, weight, path)
    if (mended === text) continue
    await replaceFile(folder, `${id}.json`, mended)
    changed.push(id)
  }
  return changed
}

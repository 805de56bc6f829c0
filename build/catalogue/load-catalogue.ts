// Reads the catalogue: every data/feeds/<id>.json, checked. All problems of all files are reported
// at once, each with its file and path, so that mending them takes one round and not ten.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IpriskError, messageOf } from '../../src/base/coded-error.ts'
import { repeatedMembers, repeatedMessage } from '../../src/base/text/repeated-members.ts'
import { feedSchema, isDataSet, isFeed } from './feed.ts'
import type { CatalogueFeed, Feed } from './feed.ts'

/**
 * The feeds of `folder` that make evidence or know facts of ASes, sorted by id. Throws
 * `bad_catalogue` with every problem, one a line.
 */
export function loadCatalogue(folder: string): readonly Feed[] {
  return loadWholeCatalogue(folder).filter(isFeed)
}

/** All that is fetched, in the order in which it should be: the data sets, which are large, last. */
export function loadWholeCatalogue(folder: string): readonly CatalogueFeed[] {
  const problems: string[] = []
  const feeds: CatalogueFeed[] = []
  for (const name of feedFilesOf(folder)) {
    const feed = readFeed(join(folder, name), problems)
    if (feed === undefined) continue
    if (`${feed.id}.json` !== name) problems.push(`${name}: id: must be the file's name`)
    feeds.push(feed)
  }
  if (problems.length > 0) throw badCatalogue(...problems)
  return feeds.toSorted((a, b) => Number(isDataSet(a)) - Number(isDataSet(b)))
}

function feedFilesOf(folder: string): readonly string[] {
  let names: string[]
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch (thrown) {
    throw badCatalogue(`${folder}: ${messageOf(thrown)}`)
  }
  if (names.length === 0) throw badCatalogue(`${folder}: holds no feed`)
  // By id, not by file name: `a-b.json` sorts before `a.json`, `a` before `a-b`.
  return names.sort((a, b) => (a.slice(0, -5) < b.slice(0, -5) ? -1 : 1))
}

function readFeed(path: string, problems: string[]): CatalogueFeed | undefined {
  let written: unknown
  try {
    const text = readFileSync(path, 'utf8')
    written = JSON.parse(text)
    problems.push(...repeatedMembers(text).map((one) => `${path}: ${repeatedMessage(one)}`))
  } catch (thrown) {
    problems.push(`${path}: ${messageOf(thrown)}`)
    return undefined
  }
  const checked = feedSchema.safeParse(written)
  if (checked.success) return checked.data
  for (const issue of checked.error.issues) {
    problems.push(`${path}: ${issue.path.map(String).join('.') || 'feed'}: ${issue.message}`)
  }
  return undefined
}

function badCatalogue(message = '', ...details: readonly string[]): IpriskError {
  return new IpriskError({ code: 'bad_catalogue', message, details, fault: 'input' })
}

// Reads the catalogue: data/feeds/<id>.json and the operator's own folder. All problems are
// reported at once, with file and path.
//
// A file in the operator's folder is a new feed, or changes members of the shipped feed with its
// id, such as `{ "enabled": false }`.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type IpriskError, messageOf, inputError } from '../../src/base/coded-error.ts'
import { isJsonObject } from '../../src/base/json-object.ts'
import { packageRoot } from '../../src/base/package-root.ts'
import { repeatedMembers, repeatedMessage } from '../../src/base/text/repeated-members.ts'
import { feedSchema, isDataSet, isFeed } from './feed.ts'
import type { CatalogueFeed, Feed } from './feed.ts'

export const catalogueFolder = join(packageRoot, 'data', 'feeds')

/**
 * Feeds that make evidence or know facts about ASes, sorted by id. Throws `bad_catalogue` with all
 * problems.
 */
export const loadCatalogue = (folder: string, own?: string): readonly Feed[] =>
  loadWholeCatalogue(folder, own).filter(isFeed)

/** All feeds in fetch order: the large data sets last. `own` is the operator's folder. */
export function loadWholeCatalogue(folder: string, own?: string): readonly CatalogueFeed[] {
  const problems: string[] = []
  const feeds: CatalogueFeed[] = []
  const shipped = feedFilesOf(folder)
  if (shipped.length === 0) throw badCatalogue(`${folder}: holds no feed`)
  const owned = own === undefined ? [] : feedFilesOf(own)
  for (const name of [...new Set([...shipped, ...owned])].sort(byId)) {
    const paths = [
      ...(shipped.includes(name) ? [join(folder, name)] : []),
      ...(own !== undefined && owned.includes(name) ? [join(own, name)] : []),
    ]
    const feed = readFeed(paths, problems)
    if (feed === undefined) continue
    const at = paths.at(-1) ?? name
    if (`${feed.id}.json` !== name) problems.push(`${at}: id: must be the file's name`)
    // Operators are responsible for the licences of feeds that they enable.
    if (!owned.includes(name) && feed.enabled && feed.licence === 'unstated') {
      problems.push(`${at}: enabled: must be false where the licence is unstated`)
    }
    feeds.push(feed)
  }
  if (problems.length > 0) throw badCatalogue(...problems)
  return feeds.toSorted((a, b) => Number(isDataSet(a)) - Number(isDataSet(b)))
}

function feedFilesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch (thrown) {
    throw badCatalogue(`${folder}: ${messageOf(thrown)}`)
  }
}

/** Sorted by id, not by file name: `a-b.json` sorts before `a.json`, `a` before `a-b`. */
const byId = (a: string, b: string): number => (a.slice(0, -5) < b.slice(0, -5) ? -1 : 1)

/** Reads a feed from one file, or the shipped one overlaid with the operator's. */
function readFeed(paths: readonly string[], problems: string[]): CatalogueFeed | undefined {
  const path = paths.at(-1) ?? ''
  let written: unknown = {}
  for (const each of paths) {
    try {
      const text = readFileSync(each, 'utf8')
      const members: unknown = JSON.parse(text)
      written =
        isJsonObject(members) && isJsonObject(written) ? { ...written, ...members } : members
      problems.push(...repeatedMembers(text).map((one) => `${each}: ${repeatedMessage(one)}`))
    } catch (thrown) {
      problems.push(`${each}: ${messageOf(thrown)}`)
      return undefined
    }
  }
  const checked = feedSchema.safeParse(written)
  if (checked.success) return checked.data
  for (const issue of checked.error.issues) {
    problems.push(`${path}: ${issue.path.map(String).join('.') || 'feed'}: ${issue.message}`)
  }
  return undefined
}

const badCatalogue = (message = '', ...details: readonly string[]): IpriskError =>
  inputError('bad_catalogue', message, { details })

// Fills own lists by outcomes (contract 6.11: outcomes) in a process started by outcome-lists.ts.
//
//   worker ▸ a line in <state>/feedback/DAY.jsonl ▸ the counts of its address ▸ five: an act on the
//   lists in the store ▸ lists-manager.ts compiles them ▸ workers
//
// One machine counts in memory and rereads the files of two days at its start; many machines count
// in their store. <state>/feedback/acted.json has the processed bytes of each file. It is written
// after the acts, which may be repeated, so an accepted outcome counts whatever is killed. Earlier
// outcomes add nothing again: a person may have removed the entry.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Stores, openStores, silentHooks } from '../../account/stores/open-stores.ts'
import { type LazilyOpened, openLazily } from '../../base/memoise.ts'
import { isJsonObject, parseJson } from '../../base/json-object.ts'
import { replaceFile } from '../../base/system/atomic-file.ts'
import { answerParent } from '../../base/system/child-task.ts'
import { feedbackFolder, type FeedbackPosition } from '../../feedback/feedback-files.ts'
import { readNewOutcomes } from '../../feedback/feedback-files.ts'
import { countedOutcome, newOutcomeWindows } from '../../feedback/outcome-windows.ts'
import type { OutcomeWindows } from '../../feedback/outcome-windows.ts'
import { newAddressWords } from '../../ip/address.ts'
import { visitorOf } from '../../ip/embedded-text.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import { actOnLists } from '../../lists/acts.ts'
import { type ListCatalogue, listNamed, parseCatalogue } from '../../lists/list-catalogue.ts'
import { formatEntryKey, parseEntryKey } from '../../lists/list-entry.ts'
import { abusiveMin, outcomeWindowMs, reportedLists } from '../../lists/list-limits.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { readEntries } from '../../lists/merge-entries.ts'
import { type MappedLists, mapLists } from '../../lists/open-lists.ts'
import { noOutcomeCounts, reportedChanges } from '../../lists/reported-lists.ts'
import type { Reported, ReportedEntry } from '../../lists/reported-lists.ts'
import { readNetwork } from '../../table/file/network-record.ts'
import { locate, newLocated } from '../../table/lookup/locate.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'
import type { OutcomeQuestion, OutcomeReply } from './outcome-lists.ts'

/** Per question. In a remote store, each is a request, and a failed one repeats all. */
const countMax = { here: 10_000, shared: 200 } as const

let opened: LazilyOpened<Stores> | undefined
let windows: OutcomeWindows | undefined
let acted: FeedbackPosition | undefined
let read: FeedbackPosition | undefined
let table: OpenTable | undefined
let lists: MappedLists | undefined

async function takeOutcomes(question: OutcomeQuestion): Promise<OutcomeReply> {
  const { settings } = question
  const { state } = settings
  const nowMs = Date.now()
  opened ??= openLazily(() => openStores(settings, silentHooks))
  const { outcomeWindows: shared, openLists } = await opened.get()
  windows ??= shared ?? newOutcomeWindows()
  acted ??= readActed(state)
  read ??= shared === undefined ? {} : acted
  const most = countMax[shared === undefined ? 'here' : 'shared']
  const bounds = { sinceMs: nowMs - outcomeWindowMs, countMax: most }
  const { outcomes, position, isMore } = await readNewOutcomes(state, read, bounds)
  const known = openFiles(question)
  const became = new Map<string, Reported | undefined>()
  for (const outcome of outcomes) {
    const { address, keyId, day, at } = outcome
    const visitor = visitorOf(address) ?? address
    const stands = await windows.count(visitor, countedOutcome(outcome))
    const key = parseEntryKey(visitor)
    if (at < (acted[day] ?? 0) || typeof key !== 'string') continue
    if (outcome.outcome === 'legitimate') became.set(key, undefined)
    const list = stands.abusive < abusiveMin ? undefined : reportedListOf(known, address)
    if (list !== undefined) became.set(key, { list, keyId, ...stands })
  }
  const { counts, changes } = await changeLists(state, await openLists(), became, nowMs)
  read = position
  const before = acted
  const bytes = Object.entries(position).map(([day, to]) => [day, Math.max(to, before[day] ?? 0)])
  acted = Object.fromEntries(bytes) as FeedbackPosition
  const text = JSON.stringify(acted)
  if (text !== JSON.stringify(before)) await replaceFile(actedPath(state), text, 0o600)
  return { counts: { ...counts, forgotten: windows.takeForgotten() }, changes, isMore }
}

/** Kept by the catalogue's tag: 100,000 entries take 0.2 s to read, and many outcomes change none. */
let entriesKept: { readonly tag: string; readonly all: readonly ReportedEntry[] } | undefined

async function reportedEntries(store: ListStore, catalogue: ListCatalogue) {
  const read = reportedLists.map(async (list) => {
    const { effect = '', chunks = [] } = listNamed(catalogue, list) ?? {}
    const entries = effect === 'none' ? await readEntries(store, chunks) : []
    return entries.map((entry) => ({ ...entry, list }))
  })
  return (await Promise.all(read)).flat()
}

const actedPath = (state: string): string => join(feedbackFolder(state), 'acted.json')

function readActed(state: string): FeedbackPosition {
  const path = actedPath(state)
  const value = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : undefined
  return isJsonObject(value) ? (value as FeedbackPosition) : {}
}

function openFiles({ table: path, lists: file }: OutcomeQuestion): OpenTable {
  if (table?.path !== path) {
    const old = table
    table = openTable(path)
    old?.close()
  }
  if (lists?.matcher.version !== file?.version) {
    const old = lists
    lists = file && mapLists(file.path, file.version)
    table.useLists(lists?.matcher)
    old?.unmap()
  }
  table.useLists(lists?.matcher)
  return table
}

const words = newAddressWords()
const located = newLocated()

/** `undefined` for a bogon, and for what a list of the operator allows. */
function reportedListOf(known: OpenTable, address: string): Reported['list'] | undefined {
  const answer = known.check(address)
  const family = parseAddress(address, words)
  if (answer === undefined || family === 0 || answer.signals.bogon) return undefined
  if (answer.reasons.includes('list_allowed')) return undefined
  const { views, strings } = known.reader
  locate(views, family, words, located)
  const { network: id } = located
  const network = id === 0 ? undefined : readNetwork(views.networks, id, strings)
  const { relay, mobile } = answer.signals
  const isShared = relay || mobile || network?.shared === true || network?.corporate === true
  return isShared ? 'reported-shared' : 'reported'
}

async function changeLists(
  state: string,
  store: ListStore,
  became: ReadonlyMap<string, Reported | undefined>,
  now: number,
) {
  if (became.size === 0) return { counts: noOutcomeCounts, changes: 0 }
  const { tag, text } = await store.catalogue()
  const catalogue = parseCatalogue(text)
  if (entriesKept?.tag !== tag) entriesKept = { tag, all: await reportedEntries(store, catalogue) }
  const live = entriesKept.all.filter(({ expires }) => expires === 0 || expires * 1000 > now)
  const known = new Map(live.map((entry) => [entry.key, entry] as const))
  const onUnwritten = (error: Error): never => {
    throw error
  }
  const actor = { state, store, now, via: 'server as outcomes', onUnwritten }
  const { put, remove, counts } = reportedChanges(known, became, now)
  for (const list of reportedLists) {
    const entries = put.filter((entry) => entry.list === list)
    const gone = remove.filter((entry) => entry.list === list).map(({ key }) => formatEntryKey(key))
    const isNew = entries.length > 0 && listNamed(catalogue, list) === undefined
    const how = { list, effect: 'none', replace: false, force: false } as const
    if (isNew) await actOnLists(actor, { act: 'create', ...how })
    if (entries.length > 0) await actOnLists(actor, { act: 'import', entries, ...how })
    if (gone.length > 0) await actOnLists(actor, { act: 'remove', list, entries: gone })
  }
  return { counts, changes: put.length + remove.length }
}

answerParent(takeOutcomes)

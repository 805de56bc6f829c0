// The process that lets outcomes fill own lists (contract 6.11), started by outcome-lists.ts.
//
//   worker ▸ a line in <state>/feedback/DAY.jsonl ▸ the counts of its address ▸ five: an act on the
//   lists in the store ▸ lists-manager.ts compiles them ▸ workers
//
// The counts of one machine are in memory here, and made anew of the files of today and yesterday;
// those of many machines are in their store. <state>/feedback/acted.json says up to which byte of
// each file was acted: it is written after the acts, which may be repeated, so an outcome that was
// accepted counts, whatever is killed. What stands before it enters nothing: a person may have
// removed the entry.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Stores,
  type StoresSettings,
  openStores,
  silentHooks,
} from '../../account/stores/open-stores.ts'
import { environmentError } from '../../base/coded-error.ts'
import { isJsonObject, parseJson } from '../../base/json-object.ts'
import { replaceFile } from '../../base/system/atomic-file.ts'
import { answerParent } from '../../base/system/child-task.ts'
import { type LazilyOpened, openLazily } from '../../base/memoise.ts'
import {
  feedbackFolder,
  type FeedbackPosition,
  readNewOutcomes,
} from '../../feedback/feedback-files.ts'
import {
  countedOutcome,
  newOutcomeWindows,
  type OutcomeWindows,
} from '../../feedback/outcome-windows.ts'
import { newAddressWords } from '../../ip/address.ts'
import { visitorOf } from '../../ip/embedded-text.ts'
import { parseAddress } from '../../ip/parse-address.ts'
import { actOnLists } from '../../lists/acts.ts'
import { reportedEffectError } from '../../lists/change-lists.ts'
import { listNamed, parseCatalogue } from '../../lists/list-catalogue.ts'
import { parseEntryKey } from '../../lists/list-entry.ts'
import { abusiveMin, outcomeWindowMs, type ReportedList } from '../../lists/list-limits.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { readEntries } from '../../lists/merge-entries.ts'
import { type MappedLists, mapLists } from '../../lists/open-lists.ts'
import { noOutcomeCounts, type Reported, reportedChanges } from '../../lists/reported-lists.ts'
import { readNetwork } from '../../table/file/network-record.ts'
import { locate, newLocated } from '../../table/lookup/locate.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'
import type { ListFile } from '../../table/served-table.ts'

/** Of one question: some 100 ms, with a store over a network some seconds. */
const linesMax = 10_000

export interface OutcomeQuestion {
  readonly settings: StoresSettings
  /** The path of the table in use. */
  readonly table: string
  readonly lists: ListFile | undefined
}

export type OutcomeReply = Awaited<ReturnType<typeof takeOutcomes>>

const open: {
  stores?: LazilyOpened<Stores>
  windows?: OutcomeWindows
  acted?: FeedbackPosition
  position?: FeedbackPosition
  table?: OpenTable
  lists?: MappedLists | undefined
} = {}

async function takeOutcomes({ settings, ...files }: OutcomeQuestion) {
  const { state } = settings
  const now = Date.now()
  const stores = await (open.stores ??= openLazily(() => openStores(settings, silentHooks))).get()
  const shared = stores.outcomeWindows
  const windows = (open.windows ??= shared ?? newOutcomeWindows())
  const acted = (open.acted ??= readActed(state))
  const from = (open.position ??= shared === undefined ? {} : acted)
  const table = openFiles(files)
  const read = await readNewOutcomes(state, from, { sinceMs: now - outcomeWindowMs, linesMax })
  const became = new Map<string, Reported | undefined>()
  let allowed = 0
  for (const outcome of read.outcomes) {
    const { address, keyId, day, at } = outcome
    const visitor = visitorOf(address) ?? address
    const { abusive, sinceMs } = await windows.count(visitor, countedOutcome(outcome))
    const key = parseEntryKey(visitor)
    if (at < (acted[day] ?? 0) || typeof key !== 'string') continue
    if (outcome.outcome === 'legitimate') became.set(key, undefined)
    if (abusive < abusiveMin) continue
    const list = reportedListOf(table, address)
    if (list === undefined) allowed += 1
    else became.set(key, { list, keyId, abusive, sinceMs })
  }
  const done = await changeLists(state, await stores.openLists(), became, now)
  open.position = read.position
  const farthest = Object.entries(read.position).map(
    ([day, to]) => [day, Math.max(to, acted[day] ?? 0)] as const,
  )
  if (farthest.some(([day, to]) => to !== acted[day])) {
    open.acted = Object.fromEntries(farthest)
    await replaceFile(actedPath(state), JSON.stringify(open.acted), 0o600)
  }
  const counts = { ...done.counts, allowed, forgotten: windows.takeForgotten() }
  return { ...done, counts, isMore: read.isMore }
}

const actedPath = (state: string): string => join(feedbackFolder(state), 'acted.json')

/** Without it, or of a power cut, all is acted on again. */
function readActed(state: string): FeedbackPosition {
  try {
    const value = parseJson(readFileSync(actedPath(state), 'utf8'))
    return isJsonObject(value) ? (value as FeedbackPosition) : {}
  } catch {
    return {}
  }
}

function openFiles({ table, lists }: Omit<OutcomeQuestion, 'settings'>): OpenTable {
  if (open.table?.path !== table) {
    open.table?.close()
    open.table = openTable(table)
  }
  const version = open.lists?.matcher.version
  if (version !== lists?.version) {
    const old = open.lists
    open.lists = lists && mapLists(lists.path, lists.version)
    old?.unmap()
  }
  open.table.useLists(open.lists?.matcher)
  return open.table
}

const words = newAddressWords()
const located = newLocated()

/** `undefined` for a bogon, and for what a list of the operator allows. */
function reportedListOf(table: OpenTable, address: string): ReportedList | undefined {
  const answer = table.check(address)
  const family = parseAddress(address, words)
  if (answer === undefined || family === 0 || answer.signals.bogon) return undefined
  if (answer.reasons.includes('list_allowed')) return undefined
  const { views, strings } = table.reader
  locate(views, family, words, located)
  const { network: id } = located
  const network = id === 0 ? undefined : readNetwork(views.networks, id, strings)
  const { relay, mobile } = answer.signals
  const isShared = network?.shared === true || network?.corporate === true || relay || mobile
  return isShared ? 'reported-shared' : 'reported'
}

async function changeLists(
  state: string,
  store: ListStore,
  became: ReadonlyMap<string, Reported | undefined>,
  now: number,
) {
  const unwritten: string[] = []
  if (became.size === 0) return { counts: noOutcomeCounts, acts: 0, unwritten }
  const { tag, text } = await store.catalogue()
  const catalogue = parseCatalogue(text)
  const entriesOf = async (name: ReportedList) => {
    const entries = await readEntries(store, listNamed(catalogue, name)?.chunks ?? [])
    return entries.filter(({ expires }) => expires === 0 || expires * 1000 > now)
  }
  const lists = {
    reported: await entriesOf('reported'),
    'reported-shared': await entriesOf('reported-shared'),
  }
  const { changes, counts } = reportedChanges(lists, became, now)
  const actor = {
    state,
    store: unlessChanged(store, tag),
    now,
    via: 'server as outcomes',
    onUnwritten: ({ message }: Error) => void unwritten.push(message),
  }
  let acts = 0
  for (const { list, put: entries, remove } of changes) {
    if (entries.length + remove.length === 0) continue
    const { effect } = listNamed(catalogue, list) ?? {}
    if (effect === undefined) await actOnLists(actor, { act: 'create', list, effect: 'none' })
    else if (effect !== 'none') throw reportedEffectError(list, effect)
    const how = { replace: false, force: false } as const
    await actOnLists(actor, { act: 'import', list, entries, remove, ...how })
    acts += 1
  }
  return { counts, acts, unwritten }
}

/** Fails where another act comes between: the caps were counted on what had been read. */
function unlessChanged(store: ListStore, tag: string): ListStore {
  let known = tag
  return {
    ...store,
    catalogue: async () => {
      const kept = await store.catalogue()
      if (kept.tag === known) return kept
      const message = 'Other acts on the lists came between; outcomes are taken again.'
      throw environmentError('lists_changed', message, { retryable: true })
    },
    replace: async (before, text) => {
      const next = await store.replace(before, text)
      known = next ?? known
      return next
    },
  }
}

answerParent(takeOutcomes)

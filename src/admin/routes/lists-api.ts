// The routes of own lists. A request has at most `actEntriesMax` entries: larger files would block
// the primary's loop, and go through "iprisk lists import".

import { inputError } from '../../base/coded-error.ts'
import { type ListRequest, actOnLists } from '../../lists/acts.ts'
import {
  entriesAddition,
  entriesRemoval,
  jsonSchemaOf,
  listCreation,
  type ListImport,
  listImport,
  listLines,
} from '../../api/admin-requests.ts'
import { anyObject, listOf, shape, text, textOrNull, truth, whole } from '../../api/json-schema.ts'
import { listEffects } from '../../model/kind.ts'
import { checkImport, knownList } from '../../lists/change-lists.ts'
import { parseCatalogue } from '../../lists/list-catalogue.ts'
import { isWide, type ListEntry, parseEntryKey } from '../../lists/list-entry.ts'
import { actEntriesMax } from '../../lists/list-limits.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { entryJson, entryLine, formatExpiry } from '../../lists/list-text.ts'
import { previewImport } from '../../lists/import/preview.ts'
import { checkListFile, listFileWarnings, readListFile } from '../../lists/import/read-list-file.ts'
import { mergeEntries, readEntries } from '../../lists/merge-entries.ts'
import type { AuditedAct } from '../../audit/audit-log.ts'
import { type AdminRoute, viewing, withBody } from '../admin-api.ts'
import { type AdminCaller, viaOf } from '../admin-caller.ts'

export interface ListsApiParts {
  readonly state: string
  readonly store: () => Promise<ListStore>
  /** Whether every worker has what the store has. */
  readonly refresh: () => Promise<boolean>
  readonly onUnwritten: AuditedAct['onUnwritten']
}

const pageMax = 1000

const list = shape({ name: text, effect: { enum: listEffects }, entries: whole, created: text })
const acted = shape({
  act: text,
  list: text,
  added: whole,
  changed: whole,
  removed: whole,
  cautions: listOf(text),
  in_effect: { ...truth, description: 'Whether every worker of this server uses it now.' },
})

const preview = shape({
  entries: whole,
  needs_force: truth,
  lines: { ...listOf(text), description: 'For people; names overlapping live lists.' },
})
/** Longer lists would block the primary's loop. */
const comparedMax = 200_000

const lists = '/admin/lists'
const change = { role: 'analyst', status: 200, answer: acted } as const

type Act = (caller: AdminCaller, request: ListRequest) => Promise<{ cautions: readonly string[] }>

export function listRoutes(parts: ListsApiParts): readonly AdminRoute[] {
  const act: Act = async (caller, request) => {
    const { state, store, refresh } = parts
    const { list, cautions, added, changed, removed } = await actOnLists(
      {
        state,
        store: await store(),
        now: Date.now(),
        via: viaOf(caller),
        onUnwritten: parts.onUnwritten,
      },
      request,
    )
    const in_effect = await refresh()
    return { act: request.act, list, added, changed, removed, cautions, in_effect }
  }
  return [...wholeRoutes(parts, act), ...entryRoutes(act), ...transferRoutes(parts, act)]
}

function wholeRoutes(parts: ListsApiParts, act: Act): readonly AdminRoute[] {
  return [
    {
      ...viewing,
      path: lists,
      summary: 'The own lists',
      answer: shape({ lists: listOf(list) }, []),
      run: async () => {
        const catalogue = parseCatalogue((await (await parts.store()).catalogue()).text)
        return { lists: catalogue.lists.map(listJson) }
      },
    },
    withBody(listCreation, {
      ...change,
      method: 'POST',
      path: lists,
      summary: 'Create a list',
      status: 201,
      run: ({ caller }, { name, effect }) => act(caller, { act: 'create', list: name, effect }),
    }),
    {
      ...viewing,
      path: `${lists}/{name}`,
      summary: `The entries of a list, ${pageMax} at a time; \`after\` is the last one received`,
      answer: {
        ...list,
        properties: {
          ...list.properties,
          shown: listOf(anyObject),
          next: { ...textOrNull, description: 'The value of `after` for the next page.' },
        },
      },
      run: async ({ name, query }) => pageOf(await parts.store(), name, query.get('after')),
    },
    {
      ...change,
      method: 'DELETE',
      path: `${lists}/{name}`,
      summary: 'Delete a list with all its entries',
      run: ({ caller, name }) => act(caller, { act: 'delete', list: name }),
    },
  ]
}

function entryRoutes(act: Act): readonly AdminRoute[] {
  return [
    withBody(entriesAddition, {
      ...change,
      method: 'POST',
      path: `${lists}/{name}/entries`,
      summary: 'Add entries, or replace existing ones',
      run: ({ caller, name }, { entries, for: forMs, note, force = false }) =>
        act(caller, { act: 'add', list: name, entries, forMs, note, force }),
    }),
    withBody(entriesRemoval, {
      ...change,
      method: 'DELETE',
      path: `${lists}/{name}/entries`,
      summary: 'Remove entries',
      run: ({ caller, name }, { entries }) => act(caller, { act: 'remove', list: name, entries }),
    }),
    {
      ...change,
      method: 'POST',
      path: `${lists}/{name}/undo`,
      summary: 'Undo the last change to a list',
      run: ({ caller, name }) => act(caller, { act: 'undo', list: name }),
    },
    {
      ...change,
      method: 'POST',
      path: `${lists}/undo`,
      summary: 'Undo the last change to any list',
      run: ({ caller }) => act(caller, { act: 'undo' }),
    },
  ]
}

function transferRoutes(parts: ListsApiParts, act: Act): readonly AdminRoute[] {
  return [
    {
      ...viewing,
      path: `${lists}/{name}/export`,
      summary: `The lines of a list, ${actEntriesMax} at a time; \`after\` is the last entry received`,
      answer: shape({ lines: jsonSchemaOf(listLines), next: textOrNull }),
      run: async ({ name, query }) => {
        const max = actEntriesMax
        const page = await readPage(await parts.store(), name, { after: query.get('after'), max })
        return { lines: page.entries.map(entryLine), next: page.next }
      },
    },
    withBody(listImport, {
      ...change,
      method: 'POST',
      path: `${lists}/{name}/import`,
      summary: 'Import the entries of a file into a list, or replace its entries by them',
      answer: shape({ ...acted.properties, preview }, ['act', 'list']),
      run: async ({ caller, name }, body) =>
        importLines(await parts.store(), name, body, (request) => act(caller, request)),
    }),
  ]
}

async function importLines(
  store: ListStore,
  list: string,
  body: ListImport,
  act: (request: ListRequest) => ReturnType<Act>,
): Promise<object> {
  const now = Date.now()
  const { lines, replace = false, preview: isPreview = false } = body
  const force = body.force ?? isPreview
  const file = readListFile(lines.join('\n'), now, 'lines')
  const other = [...file.lists.keys()].find((name) => name !== '' && name !== list)
  if (other !== undefined) {
    throw inputError('invalid_input', `lines must belong to the list ${list}, not to ${other}.`)
  }
  const before = knownList(parseCatalogue((await store.catalogue()).text), list)
  checkListFile(file, { strict: before.effect === 'allow', replace, force })
  const entries = [...file.lists.values()].flatMap((one) => one.entries)
  const effect = file.lists.get(list)?.effect
  const request = { act: 'import', list, entries, replace, force, effect } as const
  const warnings = listFileWarnings(file).map((texts) => texts.join(' '))
  if (!isPreview) {
    const done = await act(request)
    return { ...done, cautions: [...done.cautions, ...warnings] }
  }
  checkImport(before, request)
  const change = { put: entries, remove: [], replace }
  const { counts } = await mergeEntries({ store, now }, before, change)
  const isEmptied = entries.length === 0 && before.entries > 0
  const needs_force =
    entries.some(({ key }) => isWide(key)) || (replace && (isEmptied || file.bad.count > 0))
  const told = { ...(await previewImport(store, file, comparedMax)), needs_force }
  return { act: 'preview', list, ...counts, cautions: warnings, in_effect: false, preview: told }
}

function listJson({ name, effect, entries, created }: ReturnType<typeof knownList>) {
  return { name, effect, entries, created: formatExpiry(created) }
}

async function pageOf(store: ListStore, name: string, after: string | null): Promise<object> {
  const { list, entries, next } = await readPage(store, name, { after, max: pageMax })
  return { ...listJson(list), shown: entries.map(entryJson), next }
}

/** Reads only the chunks it needs. `next`: the last entry, if more follow. */
async function readPage(
  store: ListStore,
  name: string,
  { after, max }: { readonly after: string | null; readonly max: number },
) {
  const list = knownList(parseCatalogue((await store.catalogue()).text), name)
  const key = after === null ? '' : parseEntryKey(after)
  if (typeof key !== 'string') throw inputError('invalid_input', `after: ${key.fault}.`)
  const nowSeconds = Date.now() / 1000
  const entries: ListEntry[] = []
  const { chunks } = list
  for (let i = 0; i < chunks.length && entries.length < max; i += 1) {
    const next = chunks[i + 1]
    if (next !== undefined && next.first <= key) continue
    const found = await readEntries(store, [chunks[i]!])
    const alive = found.filter(({ expires }) => expires === 0 || expires > nowSeconds)
    entries.push(...alive.filter((one) => one.key > key).slice(0, max - entries.length))
  }
  const last = entries.length < max ? undefined : entries.at(-1)
  return { list, entries, next: last === undefined ? null : entryJson(last).entry }
}

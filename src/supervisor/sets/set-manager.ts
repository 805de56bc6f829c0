// Keeps published sets (contract 6.3: published sets), including the bouncers' stream, up to date
// with table, own lists and policies. Only a read checks for changes since the served generation
// and starts the next one; it still gets the previous one. One set is made at a time; a failure
// keeps the previous generation, is logged once per reason and retried on a later read.

import { formOf } from '../../adapters/crowdsec/bouncer-endpoint.ts'
import type { ListFolders } from '../../adapters/lists/list-endpoint.ts'
import type { SetMade, SetRequest } from '../../adapters/make-set-main.ts'
import { listPrefixesMax } from '../../model/published-sets.ts'
import { messageOf } from '../../base/coded-error.ts'
import type { Log } from '../../base/log.ts'
import { createChildTask } from '../../base/system/child-task.ts'
import { type Policies, noPolicies } from '../../model/policy-form.ts'
import { readsDecision } from '../../sets/condition-set.ts'
import { isCurrent } from '../../sets/next-generation.ts'
import { readManifestSync, removeUnused } from '../../sets/set-folder.ts'
import type { ListFile, VerifiedTableFile } from '../../table/served-table.ts'

/** Ten million pieces take twenty seconds on an idle machine. */
const makeMsMax = 300_000
const idleMs = 60_000

/** A bouncer's policy with more blocks half the Internet; lists may ask for a higher `max`. */
const prefixesMax = { bouncer: 1_000_000, list: listPrefixesMax } as const

const retryMs = 30_000

interface SetParts {
  readonly stateFolder: string
  readonly folders: ListFolders
  /** For all but the bouncers' set. */
  readonly conditions: Readonly<Record<string, string>>
  readonly durationMs: number
  readonly table: () => { readonly id: string; readonly file: VerifiedTableFile } | undefined
  /** `tag` of the catalogue; `undefined` until the lists are known. */
  readonly lists: () => { readonly tag: string; readonly file: ListFile | undefined } | undefined
  readonly policies: () => Policies | undefined
  readonly log: Log
}

export type SetManager = ReturnType<typeof createSetManager>

export function createSetManager(parts: SetParts) {
  const { stateFolder, durationMs, log } = parts
  const task = createChildTask<SetRequest, SetMade>({
    program: new URL('../../adapters/make-set-main.js', import.meta.url),
    hasLowPriority: true,
    msMax: makeMsMax,
    idleMs,
  })
  let making = false
  let isClosed = false
  const failures = new Map<string, { readonly why: string; readonly retryAtMs: number }>()

  tidy(stateFolder, log)

  const make = async (asked: SetRequest): Promise<void> => {
    const { name } = asked
    const outcome = await task.ask(asked)
    if (isClosed) return
    if (outcome.kind !== 'answered') {
      const failed = outcome.kind === 'failed' ? outcome.error.message : undefined
      const why = failed ?? `its process was ${outcome.kind}`
      if (why !== failures.get(name)?.why)
        log.error({ name }, `A published set was not updated: ${why}`)
      failures.set(name, { why, retryAtMs: performance.now() + retryMs })
      return
    }
    failures.delete(name)
    tidy(stateFolder, log)
    const { isNew, manifest } = outcome.answer
    const { generation, prefixes, refused } = manifest
    if (refused !== undefined) {
      const facts = { name, prefixes: refused.prefixes, prefixesMax: asked.prefixesMax }
      log.error(facts, 'A published set has too many prefixes: narrow its condition.')
    } else if (isNew) log.info({ name, generation, prefixes }, 'A published set has changed.')
  }
  return {
    folders: parts.folders,
    conditions: parts.conditions,
    pulled: (name: string, texts: readonly string[]): void => {
      if (making || isClosed || performance.now() < (failures.get(name)?.retryAtMs ?? 0)) return
      const asked = requestOf(parts, name, texts)
      if (asked === undefined) return
      const wanted = { ...asked, form: formOf(durationMs), nowMs: Date.now() }
      if (isCurrent(asked.folder, readManifestSync(asked.folder), wanted)) return
      making = true
      void make(asked).finally(() => {
        making = false
      })
    },
    close: (): void => {
      isClosed = true
      task.close()
    },
  }
}

/** `undefined` if there is no such set, or its inputs are not known yet. */
function requestOf(
  { folders, conditions, durationMs, table, lists, policies }: SetParts,
  name: string,
  texts: readonly string[],
): SetRequest | undefined {
  const folder = folders[name]
  const [answers, known] = [table(), lists()]
  if (folder === undefined || answers === undefined || known === undefined) return undefined
  const condition = conditions[name]
  const isDecided = condition === undefined || readsDecision(condition)
  const used = (isDecided ? policies() : undefined) ?? noPolicies
  // Damaged lists have no tag.
  const tag = known.tag || String(known.file?.version ?? '')
  return {
    name,
    folder,
    texts,
    durationMs,
    path: answers.file.path,
    lists: known.file,
    condition,
    policies: used,
    inputs: [answers.id, tag, used.revision, condition ?? ''].join(' '),
    prefixesMax: condition === undefined ? prefixesMax.bouncer : prefixesMax.list,
  }
}

function tidy(stateFolder: string, log: Log): void {
  try {
    removeUnused(stateFolder, Date.now())
  } catch (error) {
    log.warn({}, `Unused sets cannot be removed: ${messageOf(error)}`)
  }
}

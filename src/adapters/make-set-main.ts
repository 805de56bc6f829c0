// The process, of low priority, that makes the generations of published sets.

import { answerParent } from '../base/system/child-task.ts'
import { setLowestPriority } from '../base/system/thread-priority.ts'
import type { ExportFile } from '../export/export-file.ts'
import { mapLists } from '../lists/open-lists.ts'
import type { Policies } from '../model/policy-form.ts'
import { type MadeSet, makeNextGeneration, streamText } from '../sets/next-generation.ts'
import { conditionSet } from '../sets/condition-set.ts'
import { writeListDatabase } from '../sets/list-database.ts'
import { type ListPart, partNamed, writeList } from '../sets/list-parts.ts'
import { policySet } from '../sets/policy-set.ts'
import type { SetLabel } from '../sets/set-folder.ts'
import { SetTooLarge } from '../sets/set-records.ts'
import { openTable } from '../table/open-table.ts'
import type { ListFile } from '../table/served-table.ts'
import { formOf } from './crowdsec/bouncer-endpoint.ts'
import { writeDecisions } from './crowdsec/decision.ts'

export interface SetRequest {
  readonly name: string
  readonly folder: string
  readonly texts: readonly string[]
  /** Of decisions. */
  readonly durationMs: number
  /** Of the table, as it is mapped by workers. */
  readonly path: string
  readonly lists: ListFile | undefined
  /** `undefined`: what the default policy does not allow. */
  readonly condition: string | undefined
  readonly policies: Policies
  readonly inputs: string
  readonly prefixesMax: number
}

export type SetMade = ReturnType<typeof makeNextGeneration>

function makeSet(request: SetRequest): SetMade {
  const { folder, texts, durationMs, inputs } = request
  return makeNextGeneration(folder, {
    inputs,
    form: formOf(durationMs),
    texts,
    make: (labels) => setOf(request, labels),
    write: (text, file, made) => {
      if (text === streamText) writeDecisions(file, made, durationMs)
      else writePart(file, made.records, { request, part: partNamed(text) })
    },
    readsTable: (text) => text !== streamText && partNamed(text).layout !== undefined,
    nowMs: Date.now(),
  })
}

function writePart(
  file: ExportFile,
  records: Uint32Array,
  of: { readonly request: SetRequest; readonly part: ListPart },
): void {
  const { request, part } = of
  const { name, path } = request
  const { layout } = part
  if (layout === undefined) return writeList(file, records, { name, part })
  const table = openTable(path)
  try {
    writeListDatabase(file, records, { name, layout, table })
  } finally {
    table.close()
  }
}

function setOf(
  { name, path, lists: file, condition, policies, prefixesMax }: SetRequest,
  known: readonly SetLabel[],
): MadeSet {
  const nowMs = Date.now()
  const table = openTable(path)
  const lists = file === undefined ? undefined : mapLists(file.path, file.version)
  try {
    table.useLists(lists?.matcher)
    const expiresMs = lists?.matcher.nextExpiryMs(nowMs) ?? Infinity
    const { reader } = table
    return {
      ...orTooLarge(() =>
        condition === undefined
          ? policySet(reader, { policies, known, prefixesMax })
          : conditionSet(reader, { name, condition, policies, prefixesMax }),
      ),
      expiresMs,
    }
  } finally {
    lists?.unmap()
    table.close()
  }
}

function orTooLarge<Made>(make: () => Made): Made | { readonly prefixes: number } {
  try {
    return make()
  } catch (thrown) {
    if (thrown instanceof SetTooLarge) return { prefixes: thrown.prefixes }
    throw thrown
  }
}

setLowestPriority()
answerParent(makeSet)

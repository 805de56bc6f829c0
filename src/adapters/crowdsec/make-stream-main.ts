// The process, of low priority, that makes the generations of the bouncers' stream.

import { answerParent } from '../../base/system/child-task.ts'
import { setLowestPriority } from '../../base/system/thread-priority.ts'
import { mapLists } from '../../lists/open-lists.ts'
import type { Policies } from '../../model/policy-form.ts'
import { makeNextGeneration, type MadeSet } from '../../sets/next-generation.ts'
import type { SetLabel } from '../../sets/set-folder.ts'
import { openTable } from '../../table/open-table.ts'
import type { ListFile } from '../../table/served-table.ts'
import { bouncerSet } from './bouncer-set.ts'
import { type BouncerSettings, formOf } from './bouncer-endpoint.ts'
import { newDecisionWriter } from './decision.ts'

export interface StreamRequest extends BouncerSettings {
  /** Of the table, as it is mapped by workers. */
  readonly path: string
  readonly lists: ListFile | undefined
  readonly policies: Policies
  readonly inputs: string
  readonly prefixesMax: number
}

export type StreamMade = ReturnType<typeof makeNextGeneration>

function makeStream(request: StreamRequest): StreamMade {
  const { folder, durationMs, inputs } = request
  return makeNextGeneration(folder, {
    inputs,
    form: formOf(durationMs),
    make: (labels) => setOf(request, labels),
    write: newDecisionWriter(durationMs),
    between: ',\n',
    nowMs: Date.now(),
  })
}

function setOf(
  { path, lists: file, policies, prefixesMax }: StreamRequest,
  known: readonly SetLabel[],
): MadeSet {
  const nowMs = Date.now()
  const table = openTable(path)
  const lists = file === undefined ? undefined : mapLists(file.path, file.version)
  try {
    table.useLists(lists?.matcher)
    const made = bouncerSet(table.reader, { policies, known, prefixesMax })
    const expiresMs = lists?.matcher.nextExpiryMs(nowMs) ?? Infinity
    return { ...made, expiresMs }
  } finally {
    lists?.unmap()
    table.close()
  }
}

setLowestPriority()
answerParent(makeStream)

// The low-priority process that makes the generations of published sets.

import { answerParent } from '../base/system/child-task.ts'
import { setLowestPriority } from '../base/system/thread-priority.ts'
import { mapLists } from '../lists/open-lists.ts'
import type { Policies } from '../model/policy-form.ts'
import { makeNextGeneration, streamText } from '../sets/next-generation.ts'
import { conditionSet } from '../sets/condition-set.ts'
import { writeList } from '../sets/list-parts.ts'
import { policySet } from '../sets/policy-set.ts'
import { partNamed } from '../sets/set-folder.ts'
import { SetTooLarge } from '../sets/set-records.ts'
import { openTable } from '../table/open-table.ts'
import type { ListFile } from '../table/served-table.ts'
import { formOf } from './crowdsec/bouncer-endpoint.ts'
import { writeDecisions } from './crowdsec/decision.ts'

export interface SetRequest {
  readonly name: string
  readonly folder: string
  readonly texts: readonly string[]
  readonly durationMs: number
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
  const { name, folder, texts, durationMs, inputs, lists: file, condition, prefixesMax } = request
  const { policies } = request
  const nowMs = Date.now()
  const table = openTable(request.path)
  const lists = file === undefined ? undefined : mapLists(file.path, file.version)
  try {
    const { reader } = table
    table.useLists(lists?.matcher)
    return makeNextGeneration(folder, {
      inputs,
      form: formOf(durationMs),
      texts,
      make: (known) => ({
        ...orTooLarge(() =>
          condition === undefined
            ? policySet(reader, { policies, known, prefixesMax })
            : conditionSet(reader, { name, condition, policies, prefixesMax }),
        ),
        expiresMs: lists?.matcher.nextExpiryMs(nowMs) ?? Infinity,
      }),
      write: (text, to, made) => {
        if (text === streamText) writeDecisions(to, made, durationMs)
        else writeList(to, made.records, { name, part: partNamed(text), table })
      },
      readsTable: (text) => partNamed(text).layout !== undefined,
      nowMs,
    })
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

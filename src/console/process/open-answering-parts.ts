// The table, lists and policies for a question, kept open until a question names others.

import { type Stores, openStores, silentHooks } from '../../account/stores/open-stores.ts'
import { inputError, type IpriskError } from '../../base/coded-error.ts'
import { type LazilyOpened, openLazily } from '../../base/memoise.ts'
import { mapLists } from '../../lists/open-lists.ts'
import { decideBy } from '../../policy/decide-by.ts'
import { type ChosenPolicy, defaultPolicyName } from '../../model/policy-form.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'
import type { AnsweringFiles } from './console-messages.ts'

export type AnsweringParts = Awaited<ReturnType<typeof openAnsweringParts>>

let opened: { readonly path: string; readonly table: OpenTable } | undefined
let mapped: ({ readonly path: string } & ReturnType<typeof mapLists>) | undefined
let stores: LazilyOpened<Stores> | undefined

export async function openAnsweringParts(world: AnsweringFiles) {
  const table = tableAt(world.table)
  useLists(table, world.lists)
  const { builtMs, policies } = world
  return {
    table,
    builtMs,
    policies,
    /** The default policy without a name; `undefined` without policies. */
    policyOf: (name: string | undefined) => chosenPolicy(policies, name),
    decideBy: (policy: ChosenPolicy | undefined) => decideBy(table, policy),
    stores: (stores ??= openLazily(() => openStores(world.stores, silentHooks))).get,
  }
}

function tableAt(path: string): OpenTable {
  if (opened?.path === path) return opened.table
  const table = openTable(path)
  opened?.table.close()
  opened = { path, table }
  return table
}

function useLists(table: OpenTable, lists: AnsweringFiles['lists']): void {
  const before = mapped
  if (lists?.path !== before?.path) {
    mapped = lists && { path: lists.path, ...mapLists(lists.path, lists.version) }
  }
  table.useLists(mapped?.matcher)
  if (mapped !== before) before?.unmap()
}

function chosenPolicy(
  policies: AnsweringFiles['policies'],
  name = defaultPolicyName,
): ChosenPolicy | undefined {
  if (policies === undefined) return undefined
  const rules = Object.hasOwn(policies.policies, name) ? policies.policies[name] : undefined
  if (rules !== undefined) return { revision: policies.revision, name, rules }
  const known = Object.keys(policies.policies).join(', ')
  throw invalid(`There is no policy ${name}; there are ${known}.`)
}

export function invalid(message: string): IpriskError {
  return inputError('invalid_input', message)
}

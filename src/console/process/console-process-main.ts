// The console's process: answers one question after the other at low priority. It maps the table,
// and so shares pages with the workers.

import { answerParent } from '../../base/system/child-task.ts'
import { lowerPriority } from '../../base/system/process.ts'
import { addressRows } from './address-rows.ts'
import { addressView } from './address-view.ts'
import type { ConsoleAnswer, ConsoleQuestion } from './console-messages.ts'
import { feedsView } from './feeds-view.ts'
import { networkView } from './network-view.ts'
import { openAnsweringParts } from './open-answering-parts.ts'
import { trySet } from './set-trial.ts'
import { rehearse } from './rehearsal-run.ts'
import { tableChanges } from '../../compare/table-changes.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'

async function answer(ask: ConsoleQuestion): Promise<object> {
  const world = await openAnsweringParts(ask.world)
  switch (ask.kind) {
    case 'address':
      return addressView(world, ask)
    case 'addresses':
      return addressRows(world, ask.body)
    case 'feeds':
      return feedsView(world, ask)
    case 'network':
      return withTable(ask.against, (before) => networkView(world, ask.of, before))
    case 'set':
      return trySet(world, ask.condition)
    case 'changes':
      return withTable(ask.against, async (before) => tableChanges(world.table, before!))
    case 'rehearsal':
      return rehearse(world, ask.body, ask.sample)
    default:
      return ask satisfies never
  }
}

async function withTable(
  path: string | undefined,
  use: (table: OpenTable | undefined) => Promise<object>,
): Promise<object> {
  const table = path === undefined ? undefined : openTable(path)
  return use(table).finally(() => table?.close())
}

answerParent(async (ask: ConsoleQuestion): Promise<ConsoleAnswer> => {
  const body = Buffer.from(`${JSON.stringify(await answer(ask))}\n`)
  return { status: 200, body }
})

// Below the workers, above the pool's threads: a person waits.
lowerPriority(process.pid)

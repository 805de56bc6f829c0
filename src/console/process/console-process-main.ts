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
import { openTable } from '../../table/open-table.ts'

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
      return networkView(world, ask.of)
    case 'set':
      return trySet(world, ask.condition)
    case 'changes': {
      const before = openTable(ask.against)
      try {
        return tableChanges(world.table, before)
      } finally {
        before.close()
      }
    }
    case 'rehearsal':
      return rehearse(world, ask.body, ask.sample)
    default:
      return ask satisfies never
  }
}

answerParent(async (ask: ConsoleQuestion): Promise<ConsoleAnswer> => {
  const body = Buffer.from(`${JSON.stringify(await answer(ask))}\n`)
  return { status: 200, body }
})

// Below the workers, above the pool's threads: a person waits.
lowerPriority(process.pid)

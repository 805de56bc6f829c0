// The console's process, started by console-process.ts: answers one question after the other, at a
// low priority, from the table, lists and policies that each names. A table is mapped, so that its
// pages are those of the workers.

import os from 'node:os'
import process from 'node:process'
import { IpriskError, messageOf } from '../../base/coded-error.ts'
import { addressRows } from './address-rows.ts'
import { addressView } from './address-view.ts'
import type { ConsoleAsk, ConsoleReply } from './console-messages.ts'
import { feedsView } from './feeds-view.ts'
import { openAnsweringParts } from './open-answering-parts.ts'
import { rehearse } from './rehearsal-run.ts'
import { tableChanges } from '../../compare/table-changes.ts'
import { openTable } from '../../table/open-table.ts'

/** Below the workers; above the pool's threads, for a person waits. */
const niceness = 10

async function answer(ask: ConsoleAsk): Promise<object> {
  const world = await openAnsweringParts(ask.world)
  switch (ask.kind) {
    case 'address':
      return addressView(world, ask)
    case 'addresses':
      return addressRows(world, ask.body)
    case 'feeds':
      return feedsView(world, ask)
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

async function reply(ask: ConsoleAsk): Promise<ConsoleReply> {
  const { id } = ask
  try {
    return { id, status: 200, body: Buffer.from(`${JSON.stringify(await answer(ask))}\n`) }
  } catch (error) {
    if (error instanceof IpriskError) {
      const { code, fault } = error
      return { id, failed: { code, message: error.lines.join(' '), fault } }
    }
    const message = `The console's process failed: ${messageOf(error)}`
    return { id, failed: { code: 'console_failed', message, fault: 'bug' } }
  }
}

async function answerBehind(others: Promise<void>, ask: ConsoleAsk): Promise<void> {
  await others
  process.send?.(await reply(ask))
}

let before = Promise.resolve()

process.on('message', (ask: ConsoleAsk) => {
  // One at a time: a table that another question needs is not closed under this one.
  before = answerBehind(before, ask)
})
// The primary has ended, or needs no more.
process.on('disconnect', () => process.exit(0))
// A terminal sends it to every process of its group.
process.on('SIGINT', () => undefined)

try {
  os.setPriority(niceness)
} catch {
  // All works as before.
}

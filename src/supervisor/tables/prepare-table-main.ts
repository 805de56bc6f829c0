// The process that prepares a table file for prepare-table.ts: copies and verifies it, checks its
// answers against the table in use, tries it on sampled traffic, and reads it into shared memory. A
// broken file or slow disk harms no other process. For a server's first table it has a second
// thread (verify-thread-main.ts).

import { statSync } from 'node:fs'
import { messageOf, inputError } from '../../base/coded-error.ts'
import { answerParent } from '../../base/system/child-task.ts'
import { startOneShotThread } from '../../base/system/one-shot-thread.ts'
import { copyLargeFile } from '../../base/system/copy-large-file.ts'
import { type OpenTable, openTable } from '../../table/open-table.ts'
import { acceptanceCheck } from '../../compare/acceptance-check.ts'
import { type MappedLists, mapLists } from '../../lists/open-lists.ts'
import { readSample } from '../../observe/sample-file.ts'
import { type TrafficTrial, trialFault, tryByTraffic } from '../../compare/traffic-trial.ts'
import { verifyTable } from '../../table/file/verify/verify-table.ts'
import { secondThread, type PrepareOrder, type PrepareResult } from './prepare-table.ts'

const threadProgram = new URL('./verify-thread-main.js', import.meta.url)
const thread =
  process.argv[2] === secondThread ? startOneShotThread<string, true>(threadProgram) : undefined
answerParent(prepareCopy)

async function prepareCopy(order: PrepareOrder): Promise<PrepareResult> {
  const { source, copy, before, force, traffic } = order
  // Reading a pipe or a device would block forever.
  if (!statSync(source).isFile()) {
    throw inputError('file_unreadable', `${source} is not a regular file`)
  }
  copyLargeFile(source, copy)
  await verifyCopy(copy)
  const table = openTable(copy)
  const { inUse, lost } = openInUse(before)
  const acceptance = acceptanceCheck(table, inUse)
  const { trial, cautions } = tryOf(table, inUse, traffic)
  inUse?.close()
  const fault = trialFault(trial)
  const reasons = [...acceptance.reasons, ...(fault === undefined ? [] : [fault])]
  // Workers open it next, and their answers must not wait for a disk.
  if (reasons.length === 0 || force) table.populate()
  const { id } = table
  table.close()
  return {
    ...acceptance,
    id,
    reasons,
    against: acceptance.against ?? (fault === undefined ? null : 'traffic'),
    cautions: [...acceptance.cautions, ...cautions, ...(lost === undefined ? [] : [lost])],
    trial,
    isBeforeLost: lost !== undefined,
  }
}

async function verifyCopy(copy: string): Promise<void> {
  if (thread === undefined) {
    verifyTable(copy)
    return
  }
  thread.ask(copy)
  verifyTable(copy, 'sections')
  if ((await thread.answer()) === undefined) verifyTable(copy, 'runs')
}

function tryOf(table: OpenTable, inUse: OpenTable | undefined, traffic: TrafficTrial | undefined) {
  if (traffic === undefined || inUse === undefined) return { trial: undefined, cautions: [] }
  const { sample, lists } = traffic
  let mapped: MappedLists | undefined
  try {
    mapped = lists === undefined ? undefined : mapLists(lists.path, lists.version)
    for (const side of [table, inUse]) side.useLists(mapped?.matcher)
    const trial = tryByTraffic(inUse, table, readSample(sample), traffic)
    return { trial, cautions: [] }
  } catch (error) {
    // Other faults do not refuse a table.
    const caution = `It was not tested with the sampled traffic: ${messageOf(error)}`
    return { trial: undefined, cautions: [caution] }
  } finally {
    for (const side of [table, inUse]) side.useLists(undefined)
    mapped?.unmap()
  }
}

/** `lost` says why the table in use cannot be compared. */
function openInUse(path: string | undefined) {
  let lost: string | undefined
  try {
    const inUse = path === undefined ? undefined : openTable(path, { whole: true })
    return { inUse, lost }
  } catch (error) {
    lost = `It was not compared with the table in use: ${messageOf(error)}`
    return { inUse: undefined, lost }
  }
}

// The process that compiles own lists, started by lists-manager.ts: reads the catalogue and the
// chunks that it does not hold yet, compiles, and renames the written file into place. It keeps
// decoded chunks, so that one more entry among a million does not read all of them again.

import { renameSync, writeFileSync } from 'node:fs'
import { openStores, silentHooks } from '../../account/stores/open-stores.ts'
import { answerParent } from '../../base/system/child-task.ts'
import { compileLists } from '../../lists/compile/compile-lists.ts'
import type { EntryRows } from '../../lists/compile/entry-rows.ts'
import type { ListStore } from '../../lists/list-store.ts'
import { readListSources } from '../../lists/read-sources.ts'
import type { CompiledLists, CompileRequest } from './lists-manager.ts'

const rows = new Map<string, EntryRows>()
let opened: Promise<ListStore> | undefined

async function compile(request: CompileRequest): Promise<CompiledLists> {
  const { settings, path, unfinished, partly } = request
  opened ??= openStores(settings, silentHooks).then((stores) => stores.openLists())
  // The server knows the reason from the previous attempt.
  const onDamaged = partly === true ? (): void => undefined : undefined
  const { tag, entries, sources } = await readListSources(await opened, rows, onDamaged)
  const facts = { tag, lists: sources.length, entries }
  if (entries === 0) return { ...facts, written: false }
  const bytes = compileLists(sources, Math.floor(Date.now() / 1000))
  writeFileSync(unfinished, bytes, { flag: 'wx', mode: 0o600 })
  renameSync(unfinished, path)
  return { ...facts, written: true }
}

answerParent(compile)

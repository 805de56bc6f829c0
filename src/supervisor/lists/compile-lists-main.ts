// The process that compiles own lists for lists-manager.ts: reads the catalogue and new chunks,
// compiles, and renames the file into place. It caches decoded chunks, so that a small change does
// not reread all of them.

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

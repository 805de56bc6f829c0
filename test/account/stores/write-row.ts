// Writes rows into the LMDB stores of a state folder past all that checks them, as another program,
// another version or a fault of the disk would.

import { join } from 'node:path'
import { open } from 'lmdb'

const texts = { encoding: 'string' } as const

async function inStore(
  folder: string,
  write: (root: ReturnType<typeof open>) => void,
): Promise<void> {
  const root = open({ path: folder, maxDbs: 3, overlappingSync: false })
  root.transactionSync(() => write(root))
  await root.close()
}

/** The text of a key's record, counted as a change; what is no JSON makes the whole row none. */
export function writeRecord(state: string, id: string, record: string): Promise<void> {
  return inStore(join(state, 'keys'), (root) => {
    const meta = root.openDB<string, string>({ name: 'meta', ...texts })
    const changed = Number(meta.get('version') ?? '0') + 1
    const row = `{"changed":${changed},"record":${record}}`
    root.openDB<string, string>({ name: 'keys', ...texts }).putSync(id, row)
    root.openDB<string, number>({ name: 'changes', ...texts }).putSync(changed, JSON.stringify(id))
    meta.putSync('version', String(changed))
  })
}

export function writeCounter(state: string, name: string, text: string): Promise<void> {
  return inStore(join(state, 'quota'), (root) => {
    const options = { name: 'counters', ...texts, useVersions: true } as const
    root.openDB<string, string>(options).putSync(name, text, 1)
  })
}

/** The chunks of all lists, each as `change` makes it; what it makes nothing of is removed. */
export function changeChunks(
  state: string,
  change: (text: string, id: string) => string | undefined,
): Promise<void> {
  return inStore(join(state, 'lists'), (root) => {
    const chunks = root.openDB<string, string>({ name: 'chunks', ...texts })
    for (const { key, value } of Array.from(chunks.getRange())) {
      const changed = change(value, key)
      if (changed === undefined) chunks.removeSync(key)
      else chunks.putSync(key, changed)
    }
  })
}

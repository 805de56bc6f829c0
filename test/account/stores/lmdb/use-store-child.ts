// A process that opens the key stores of the state folders that it is given, one after the other,
// and uses each: it prints the folder, and then what came of it.

import { createKey } from '../../../../src/account/keys/issue-key.ts'
import { openLmdbKeyStore } from '../../../../src/account/stores/lmdb/lmdb-stores.ts'
import { IpriskError, messageOf } from '../../../../src/base/coded-error.ts'

async function useStore(state: string): Promise<string> {
  const store = await openLmdbKeyStore(state)
  try {
    const { records } = await store.list()
    await store.changes(0)
    for (let made = 0; made < 3; made += 1) {
      await createKey(store, { name: 'n'.repeat(90), plan: 'team', apis: [] }, made)
    }
    for (const { id } of records.filter((_, i) => i % 200 === 0)) {
      await store.update(id, (record) => ({ ...record, name: 'm' }))
    }
    return `works with ${records.length} keys`
  } finally {
    await store.close()
  }
}

for (const state of process.argv.slice(2)) {
  process.stdout.write(`${state} `)
  const outcome = await useStore(state).catch((error: unknown) => {
    if (error instanceof IpriskError) return error.code
    return `unknown error: ${messageOf(error)}`
  })
  process.stdout.write(`${outcome}\n`)
}

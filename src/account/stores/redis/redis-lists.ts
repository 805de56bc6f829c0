// Own lists in the store for many machines (lua-scripts.ts has the layout), behind a circuit
// breaker, which `close` closes. Texts go a few at a time, so that nobody else waits for them.

import { type ListStore, nextTag } from '../../../lists/list-store.ts'
import type { LuaScript } from './lua-scripts.ts'
import * as script from './lua-scripts.ts'
import type { StoreCircuitBreaker } from './store-circuit-breaker.ts'

const catalogueName = 'iprisk:{lists}:catalogue'
const chunksName = 'iprisk:{lists}:chunks'

/** A chunk is a hundred kilobytes, with long notes a megabyte: enough for one call on a busy machine. */
const chunksAtOnce = 1
const idsAtOnce = 500

export function createRedisListStore(breaker: StoreCircuitBreaker): ListStore {
  const run = (what: LuaScript, name: string, args: readonly string[]): Promise<unknown> =>
    breaker.runScript(what, [name], args)
  const fields = async (...names: readonly string[]): Promise<readonly string[]> => {
    const values = (await run(script.readFieldsScript, catalogueName, names)) as (string | null)[]
    return values.map((value) => value ?? '')
  }
  return {
    catalogue: async () => {
      const [tag = '', text = ''] = await fields('tag', 'text')
      return { tag, text }
    },
    tag: async () => (await fields('tag'))[0] ?? '',
    chunks: async (ids) => {
      const texts: (string | undefined)[] = []
      for (const some of groupsOf(ids, chunksAtOnce)) {
        const found = (await run(script.readFieldsScript, chunksName, some)) as (string | null)[]
        texts.push(...found.map((text) => text ?? undefined))
      }
      return texts
    },
    putChunks: async (made) => {
      for (const some of groupsOf(made, chunksAtOnce)) {
        const args = some.flatMap(({ id, text }) => [id, text])
        await run(script.putChunksScript, chunksName, args)
      }
    },
    replace: async (tag, text) => {
      const next = nextTag(tag)
      const args = [tag, next, text]
      return (await run(script.replaceCatalogueScript, catalogueName, args)) === 1
        ? next
        : undefined
    },
    removeChunks: async (ids) => {
      for (const some of groupsOf(ids, idsAtOnce)) {
        await run(script.removeChunksScript, chunksName, some)
      }
    },
    chunkIds: async () => (await run(script.fieldNamesScript, chunksName, [])) as string[],
    close: breaker.close,
  }
}

function* groupsOf<One>(all: readonly One[], size: number): Generator<readonly One[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

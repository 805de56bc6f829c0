// Threads that still load their program. One that is ended then can take the process with it: Node
// 20.20 aborts in the midst of an import ("v8::Module::IsGraphAsync must be used on an instantiated
// module"), and koffi 3.3.4 where it cannot throw into a thread that ends ("ThrowAsJavaScriptException
// napi_throw"). So a pool lets its threads load, and then ends them.

import type { Worker } from 'node:worker_threads'

export interface ThreadStartup {
  /** Watches those of these that it does not know. To be called in the turn in which they start. */
  readonly watch: (threads: readonly Worker[]) => void
  /** Resolves when each of them has loaded or died. */
  readonly done: () => Promise<void>
}

export function watchThreadStartup(): ThreadStartup {
  const known = new WeakSet<Worker>()
  const loading = new Set<Promise<void>>()
  return {
    watch: (threads) => {
      for (const thread of threads) {
        if (known.has(thread)) continue
        known.add(thread)
        const loaded = new Promise<void>((resolve) => {
          // Piscina's word that it is ready, which is the first that any of them says.
          thread.once('message', () => resolve())
          thread.once('exit', () => resolve())
        }).then(() => void loading.delete(loaded))
        loading.add(loaded)
      }
    },
    done: async () => {
      while (loading.size > 0) await Promise.all(loading)
    },
  }
}

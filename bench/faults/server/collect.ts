// Preloaded (`node --import`) into a server whose memory a proof compares: on SIGWINCH a process
// collects all of its garbage at once, that of its pool threads too, and each thread notes what it
// holds in a file of the folder that the query of its URL names (served.ts reads them). The server
// itself knows no such signal, and a process that does not listen yet ignores it.
//
// What is held is live objects and blocks that the allocator has given out, touched or not. Pages
// say less: the young generation keeps up to 16 MiB of empty ones and each arena of the C library
// what was once at its end, so that they rise in steps for as long as such a step has not happened
// yet.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'
import koffi from 'koffi'

const folder = new URL(import.meta.url).searchParams.get('folder') ?? ''

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** mallinfo2(3), bytes: `hblkhd` is in blocks that are mapped alone, `uordblks` in all others. */
const counts = ['arena', 'ordblks', 'smblks', 'hblks', 'hblkhd']
const more = ['usmblks', 'fsmblks', 'uordblks', 'fordblks', 'keepcost']
const fields = Object.fromEntries([...counts, ...more].map((name) => [name, 'size_t']))
const allocated = isMainThread
  ? koffi.load(null).func('mallinfo2', koffi.struct('mallinfo2', fields), [])
  : undefined

function note(): void {
  collect()
  const { hblkhd = 0, uordblks = 0 } = (allocated?.() ?? {}) as Record<string, number>
  const bytes = getHeapStatistics().used_heap_size + hblkhd + uordblks
  writeFileSync(join(folder, `${process.pid}-${threadId}`), String(bytes))
}

// Threads hear no signals. What both sides must let go of goes when the last one has collected: who
// compares signals twice.
const threads = new BroadcastChannel('iprisk-collect')
threads.unref()
if (isMainThread) {
  process.on('SIGWINCH', () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, no origin
    threads.postMessage('collect')
    note()
  })
} else {
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- its type has none (Node 20)
  threads.onmessage = () => note()
}

// Preloaded (`node --import`) into a server whose memory a proof compares: on SIGWINCH a process collects
// all of its garbage at once, so that what it holds then is what it keeps. Without it heaps rise by ten
// MiB and more between collections, which looks like a leak. The server itself knows no such signal, and a
// process that does not listen yet ignores it.

import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGWINCH', () => collect())
}

// How long the loops of a server's processes were held: in each of them, by the processor time of its
// thread between two looks, so that a busy machine does not count.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const lookMs = 5
const noteMs = 500

/** Each process of the server that `start` starts notes its longest in files below `folder`. */
export async function watchingLoops<T>(folder: string, start: () => Promise<T>): Promise<T> {
  const program = `
    import { readFileSync, writeFileSync } from 'node:fs'
    const [, path = '', command = ''] = process.argv
    const kind = path.endsWith('worker-main.js') ? 'worker' : command === 'serve' ? 'primary' : ''
    if (kind !== '') {
      const own = '/proc/self/task/' + process.pid + '/schedstat'
      const used = () => Number(readFileSync(own, 'latin1').split(' ')[0]) / 1e6
      let before = used()
      let longest = 0
      setInterval(() => {
        const now = used()
        longest = Math.max(longest, now - before)
        before = now
      }, ${lookMs}).unref()
      setInterval(() => {
        const file = [kind, process.pid, Date.now()].join('-')
        writeFileSync(${JSON.stringify(folder)} + '/' + file, String(longest))
        longest = 0
      }, ${noteMs}).unref()
    }`
  const before = process.env['NODE_OPTIONS']
  process.env['NODE_OPTIONS'] = `--import data:text/javascript,${encodeURIComponent(program)}`
  try {
    return await start()
  } finally {
    if (before === undefined) delete process.env['NODE_OPTIONS']
    else process.env['NODE_OPTIONS'] = before
  }
}

type Lags = Readonly<Record<'primary' | 'worker', number>>

/** The longest of each kind while `work` was done, milliseconds. */
export async function lagsOf(folder: string, work: () => Promise<unknown>): Promise<Lags> {
  // What was held before is noted before.
  await sleep(2 * noteMs)
  const from = Date.now()
  await work()
  await sleep(2 * noteMs)
  const lags = { primary: 0, worker: 0 }
  for (const name of readdirSync(folder)) {
    const [kind = '', , at = ''] = name.split('-')
    if (Number(at) < from || (kind !== 'primary' && kind !== 'worker')) continue
    lags[kind] = Math.max(lags[kind], Number(readFileSync(join(folder, name), 'utf8')))
  }
  return lags
}

// Starts the process that fetches one published table (src/publish/pull/pull-child-main.ts), and
// reads what came of it.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../base/coded-error.ts'
import { lowerPriority } from '../../base/system/process.ts'
import type { PullRefusalCode } from '../../publish/fetch/pull-refusal.ts'
import type { PullJob, PullResult } from '../../publish/pull/pull-child-main.ts'

/** Nobody waits longer for one table; what came until then is there for the next try. */
const pullMsMax = 1_800_000

const wordsKept = 500

const program = fileURLToPath(new URL('../../publish/pull/pull-child-main.js', import.meta.url))

export interface PullProcess {
  /** Never rejects. */
  readonly result: Promise<PullResult>
  readonly stop: () => void
}

export function startPullProcess(job: PullJob): PullProcess {
  const child = spawn(process.execPath, [program], {
    stdio: 'pipe',
    timeout: pullMsMax,
    killSignal: 'SIGKILL',
  })
  lowerPriority(child.pid)
  // It may end before it has read its job.
  child.stdin.on('error', () => undefined)
  child.stdin.end(JSON.stringify(job))
  let said = ''
  let words = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-wordsKept)
  })
  const result = new Promise<PullResult>((resolve) => {
    const fail = (reason: string, code: PullRefusalCode = 'other'): void =>
      resolve({ kind: 'refused', code, reason })
    child.once('error', (error) => fail(messageOf(error)))
    child.once('close', (code, signal) => {
      try {
        resolve(JSON.parse(said) as PullResult)
      } catch {
        if (child.killed) {
          const minutes = pullMsMax / 60_000
          fail(`the table was not here within ${minutes} minutes; what came of it is kept`, 'slow')
          return
        }
        const by = signal ?? `code ${code}`
        fail(`the process that fetches was ended by ${by}: ${words.trim() || 'no word'}`)
      }
    })
  })
  return { result, stop: () => void child.kill('SIGTERM') }
}

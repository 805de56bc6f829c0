// The program as the first process of a namespace, as in a container without an init: what asks it
// to end ends it. The namespace is the test's own.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { newFolder, programPath } from '../cli/program.ts'
import { eventually } from '../eventually.ts'

const allowed = spawnSync('unshare', ['-pf', 'true']).status === 0
const isCi = process.env['CI'] !== undefined

it.runIf(allowed || isCi).each(['SIGINT', 'SIGTERM'] as const)(
  `a build that is the first process of its container is ended by %s`,
  async (signal) => {
    // A mirror that never answers.
    let asked = 0
    const mirror = createServer(() => (asked += 1)).listen(0, '127.0.0.1')
    await once(mirror, 'listening')
    const url = `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`
    const build = ['build', '--keep-data-sets', '--mirror', url]
    const args = ['-pf', '--kill-child', process.execPath, programPath, ...build]
    const child = spawn('unshare', args, { cwd: newFolder(), stdio: 'ignore' })
    try {
      await eventually(() => asked > 0)
      const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(
        ' ',
      )
      const ended = once(child, 'exit')
      process.kill(Number(first), signal)
      const [code] = (await ended) as [number | null]
      expect(code).toBe(signal === 'SIGINT' ? 130 : 143)
    } finally {
      child.kill('SIGKILL')
      mirror.closeAllConnections()
      mirror.close()
    }
  },
)

// The lock between processes: what holds it is the process, and nothing but its death frees it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { acquireFileLock } from '../../../src/base/system/file-lock.ts'
import { packageRoot } from '../../../src/base/package-root.ts'

const folder = mkdtempSync(join(tmpdir(), 'iprisk-lock-'))
const path = join(folder, '.lock')
const url = pathToFileURL(join(packageRoot, 'dist/src/base/system/file-lock.js')).href

afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** Locks, starts a child of its own that outlives it, and says what it has and that child's id. */
const program = `
  import { spawn } from 'node:child_process'
  import { acquireFileLock } from '${url}'
  const held = acquireFileLock(process.argv[1]) !== undefined
  const child = spawn('sleep', ['60'], { stdio: 'ignore', detached: true })
  console.log(JSON.stringify({ held, child: child.pid }))
  setInterval(() => undefined, 1000)
`

interface Started {
  readonly process: ChildProcess
  readonly held: boolean
  /** The process id of its child. */
  readonly child: number
}

async function start(): Promise<Started> {
  const args = ['--input-type=module', '-e', program, path]
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(started.stdout, 'data')) as [Buffer]
  return { process: started, ...(JSON.parse(line.toString()) as Pick<Started, 'held' | 'child'>) }
}

async function end({ process: started }: Started): Promise<void> {
  started.kill('SIGKILL')
  await once(started, 'exit')
}

describe('a file lock', () => {
  it('is freed by kill -9 of its holder alone, whose children do not keep it', async () => {
    const first = await start()
    expect(first.held).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe(`${first.process.pid}\n`)
    expect(acquireFileLock(path)).toBeUndefined()
    const second = await start()
    expect(second.held).toBe(false)
    await end(second)
    expect(acquireFileLock(path)).toBeUndefined()
    await end(first)
    expect(process.kill(first.child, 0)).toBe(true)
    const third = await start()
    expect(third.held).toBe(true)
    await end(third)
    for (const { child } of [first, second, third]) process.kill(child, 'SIGKILL')
    const lock = acquireFileLock(path)
    expect(lock).toBeDefined()
    lock?.release()
  })

  it('is kept by a holder that is stopped', async () => {
    const holder = await start()
    holder.process.kill('SIGSTOP')
    expect(acquireFileLock(path)).toBeUndefined()
    await end(holder)
    process.kill(holder.child, 'SIGKILL')
    const lock = acquireFileLock(path)
    expect(lock).toBeDefined()
    lock?.release()
  })

  it('goes to one of many that start together, time and again', async () => {
    for (let turn = 0; turn < 3; turn++) {
      const started = await Promise.all(Array.from({ length: 4 }, start))
      expect(started.filter(({ held }) => held)).toHaveLength(1)
      for (const one of started) {
        await end(one)
        process.kill(one.child, 'SIGKILL')
      }
    }
  })
})

// A key works, or works no longer, as soon as the command that says so has returned (contract 5.2):
// on a real server of several workers, asked on fresh connections, which land on any of them.

import { type Line, renderLine } from '../../../src/cli/terminal/io.ts'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keysCreate, keysRevoke, keysRotate } from '../../../src/cli/keys/keys-command.ts'
import { type Settings, readSettings } from '../../../src/config/settings.ts'
import { type Server, newState, startServer, workersOf } from '../../serve/server.ts'
import { sendTo } from '../../http/api-client.ts'
import { writeSmallTable } from '../../table/small-table.ts'
import { programPath, runProgram } from '../program.ts'

const path = '/v1/intelligence/ip-risk/check'
/** More fresh connections than it takes to reach every worker, nearly always. */
const asks = 8

let server: Server
const said: string[] = []

beforeAll(async () => {
  server = await startServer({ table: writeSmallTable(), workers: 3 })
})

afterAll(async () => {
  await server.stop()
})

function settings(command: 'keys create' | 'keys revoke' | 'keys rotate', more = {}): Settings {
  const flags = { state: server.state, json: true, ...more }
  return readSettings({ command, flags, environment: {}, cwd: newState() })
}

interface Issued {
  readonly id: string
  readonly key: string
}

async function run(act: (io: Parameters<typeof keysCreate>[1]) => Promise<void>): Promise<Issued> {
  let text = ''
  const out = (more: Line): void => void (text += renderLine(more, false))
  const lines = (more: readonly Line[]) => Promise.resolve(more.forEach(out))
  await act({ now: Date.now(), out, lines, err: (line) => void said.push(renderLine(line, false)) })
  return JSON.parse(text) as Issued
}
const create = (): Promise<Issued> =>
  run((io) => keysCreate(settings('keys create', { plan: 'internal' }), io))

/** The statuses of checks on fresh connections, all at once. */
async function statuses(key: string): Promise<readonly number[]> {
  const asked = { port: server.port, path, key }
  const answers = await Promise.all(Array.from({ length: asks }, () => sendTo(asked)))
  return [...new Set(answers.map(({ status }) => status))]
}

/** As `| head -1` reads, when the program has ended. */
async function firstLine(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [programPath, ...args], {
    cwd: newState(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const [text] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  child.stdout.destroy()
  await ended
  return text.split('\n', 1)[0]!
}

describe('at once', () => {
  it('fifty keys work, one after the other', async () => {
    const wrong: number[] = []
    for (let i = 0; i < 50; i += 1) {
      wrong.push(...(await statuses((await create()).key)).filter((status) => status !== 200))
    }
    expect(wrong).toEqual([])
  })

  it('a revoked key does not, and of a rotated one the new secret alone', async () => {
    for (let i = 0; i < 10; i += 1) {
      const { id, key } = await create()
      const rotated = await run((io) =>
        keysRotate(settings('keys rotate', { graceHours: '0' }), io, [id]),
      )
      expect(await statuses(key)).toEqual([401])
      expect(await statuses(rotated.key)).toEqual([200])
      await run((io) => keysRevoke(settings('keys revoke'), io, [id]))
      expect(await statuses(rotated.key)).toEqual([401])
    }
    expect(said.splice(0)).toEqual([])
  })

  it('an imported key works, by the command line itself', async () => {
    const cwd = newState()
    const elsewhere = ['--state', join(cwd, 'other')]
    const made = await runProgram(['keys', 'create', '--plan', 'team', '--json', ...elsewhere], {
      cwd,
    })
    const { key } = JSON.parse(made.out) as Issued
    expect(await statuses(key)).toEqual([401])
    const { out: input } = await runProgram(['keys', 'export', ...elsewhere], { cwd })
    const imported = await runProgram(['keys', 'import', '-', '--state', server.state], {
      cwd,
      input,
    })
    expect(imported.code).toBe(0)
    expect(await statuses(key)).toEqual([200])
  })

  it('a key works of which a reader took the first line and left', async () => {
    for (let i = 0; i < 10; i += 1) {
      const line = await firstLine(['keys', 'create', '--plan', 'team', '--state', server.state])
      expect(await statuses(line)).toEqual([200])
    }
  })

  it('also while a worker is replaced', async () => {
    const [first] = workersOf(server)
    process.kill(first!, 'SIGKILL')
    expect(await statuses((await create()).key)).toEqual([200])
    const restart = runProgram(
      ['restart', '--state', server.state, '--port', String(server.port)],
      {
        cwd: newState(),
      },
    )
    for (let i = 0; i < 20; i += 1) expect(await statuses((await create()).key)).toEqual([200])
    expect((await restart).code).toBe(0)
  })
})

describe('where no server can say that it knows the key', () => {
  it('the command returns at once for none, and for one that has died', async () => {
    const state = newState()
    const more = { plan: 'team', state }
    await run((io) => keysCreate(settings('keys create', more), io))
    // A name that nobody listens on, as a killed server leaves it.
    writeFileSync(join(state, 'control-8080.sock'), '')
    await run((io) => keysCreate(settings('keys create', more), io))
    expect(said.splice(0)).toEqual([])
  })

  it('the key is printed all the same, and the reason is said', async () => {
    const state = newState()
    const strange = createServer((socket) => {
      socket.resume()
      socket.end(`${JSON.stringify({ ok: false, text: 'There is no such request.' })}\n`)
    }).listen(join(state, 'control-8080.sock'))
    await once(strange, 'listening')
    const { key } = await run((io) =>
      keysCreate(settings('keys create', { plan: 'team', state }), io),
    )
    expect(key).toMatch(/^irk_/)
    expect(said.splice(0)).toEqual([
      expect.stringMatching(/control-8080\.sock.*There is no such request\. .*within a second/),
    ])
    await new Promise((resolve) => strange.close(resolve))
  })
})

// The client for Python: its own tests, its types, and the ten lines of docs/python.md, which greet
// ordinary users, ask risky ones for more, and greet everybody where iprisk cannot be asked. With
// Debian's packages (.ci/run); nothing is installed here.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/base/package-root.ts'
import { eventually } from '../../eventually.ts'
import { freePort } from '../../../bench/harness/free-port.ts'
import { removeFolder } from '../../remove-folder.ts'
import { type Server, keyedState, startServer } from '../../serve/server.ts'
import { writeSmallTable } from '../../table/small-table.ts'

const python = '/usr/bin/python3'
const source = join(packageRoot, 'src/client-python')
const env = { ...process.env, PYTHONPATH: source, PYTHONDONTWRITEBYTECODE: '1' }
const folder = mkdtempSync(join(tmpdir(), 'iprisk-python-'))
afterAll(() => removeFolder(folder))

function run(args: readonly string[], cwd = packageRoot) {
  const { status, stdout, stderr } = spawnSync(python, args, { cwd, env, encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

it('passes its own tests, and skips none', () => {
  const { status, said } = run([
    '-m',
    'pytest',
    '-q',
    '-p',
    'no:cacheprovider',
    import.meta.dirname,
  ])
  expect(status, said).toBe(0)
  expect(said).toMatch(/\n\d{3,} passed(?!.*skipped)/)
})

/** How an application uses it, strictly typed: `ok` tells answer and reason apart. */
const application = `
import asyncio
from iprisk import AsyncClient, CheckResult, Client, Failure, client_address
from iprisk.testing import FakeClient

def told(failure: Failure) -> None: ...

def act(result: CheckResult) -> str:
    if result.ok:
        return str(result.answer["risk_score"])
    fallback: str = result.reason + result.fallback
    return fallback

with Client(url="http://127.0.0.1:8080", key="irk_x", timeout=0.2, on_unavailable=told) as client:
    act(client.check(client_address("127.0.0.1", {}, trust=["private"]) or "", policy="login"))
    client.report("192.0.2.1", "abusive")
act(FakeClient({"203.0.113.7": "block"}).check("203.0.113.7"))

async def main() -> None:
    async with AsyncClient("http://127.0.0.1:8080", "irk_x") as client:
        act((await client.check_batch(["192.0.2.1"]))[0])

asyncio.run(main())
`
const wrong = `
from iprisk import Client
Client(url="http://127.0.0.1:8080", key="irk_x", timeoutMs=5).check(5).answer["risk_score"]
`

describe('its types', () => {
  const mypy = (files: readonly string[]) =>
    run(
      ['-m', 'mypy', '--strict', '--python-version', '3.9', '--cache-dir', folder, ...files],
      source,
    )

  it('hold under mypy --strict for Python 3.9', () => {
    const file = join(folder, 'application.py')
    writeFileSync(file, application)
    expect(mypy(['iprisk', file])).toEqual({ status: 0, said: expect.stringContaining('Success') })
  })

  it('refuse mistakes', () => {
    const file = join(folder, 'wrong.py')
    writeFileSync(file, wrong)
    const { said } = mypy([file])
    expect(said).toContain('Unexpected keyword argument "timeoutMs"')
    expect(said).toContain('Argument 1 to "check"')
    expect(said).toContain('is not indexable')
  })
})

describe('the ten lines of docs/python.md', () => {
  const text = readFileSync(join(packageRoot, 'docs/python.md'), 'utf8')
  const code = /```python\n(import os[^]*?)```/.exec(text)?.[1] ?? ''
  let server: Server
  let flask: ChildProcess | undefined
  let port = 0

  const login = async (address: string): Promise<string> => {
    const headers = { 'X-Forwarded-For': address }
    const url = `http://127.0.0.1:${port}/login`
    return (await fetch(url, { method: 'POST', headers })).text()
  }

  beforeAll(async () => {
    const keyed = await keyedState({ test: true })
    server = await startServer({ table: writeSmallTable(), state: keyed.state })
    port = await freePort()
    const here = code
      .replace('http://127.0.0.1:8080', `http://127.0.0.1:${server.port}`)
      // The machine of the tests may be busy.
      .replace('Client(', 'Client(timeout=10, ')
    writeFileSync(join(folder, 'login.py'), here)
    flask = spawn(python, ['-m', 'flask', '--app', 'login', 'run', '--port', String(port)], {
      cwd: folder,
      stdio: 'ignore',
      env: { ...env, IPRISK_KEY: keyed.key },
    })
    await eventually(async () => {
      const there = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
      return there?.status === 404
    }, 30_000)
  })
  afterAll(async () => {
    flask?.kill()
    await server?.stop()
  })

  it('are ten', () => {
    expect(code.split('\n').filter((line) => line !== '')).toHaveLength(10)
  })

  it('ask risky visitors for more, and let everybody in where iprisk is gone', async () => {
    const more = 'One more step: we have sent you a code.'
    expect(await login('198.18.0.1')).toBe('Welcome.')
    expect(await login('198.18.0.6')).toBe(more)
    expect(await login('198.18.0.9')).toBe('Welcome.')
    expect(await login('198.18.0.22')).toBe('Welcome.')
    await server.stop()
    expect(await login('198.18.0.8')).toBe('Welcome.')
  })
})

// What `npm run release:dry` asks of the packed `iprisk`, installed in an empty folder: without the
// compiler's packages it serves the table and the state of an earlier commit; with them it builds a
// table from a mirror on loopback, answers from it, and takes in the next one.

import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './packages.mjs'

const startMs = 600_000
/** Its one list; the feed's smallest file has 39,105 bytes. */
const torList = 'tor-exits-onionoo/latest.exits.csv'
const exits = Array.from({ length: 1000 }, (_, at) => `185.220.${100 + (at >> 8)}.${at & 255}`)
const added = '185.220.104.9'

/** Serves one list of Tor's exits; `add` publishes one more. */
export async function openMirror() {
  const addresses = [...exits]
  const server = createServer(({ url }, response) => {
    if (url !== `/${torList}`) return response.writeHead(404).end()
    const lines = addresses.map((address) => `${address},${'an exit of the trial'.padEnd(30, '.')}`)
    return response.end(['ipaddr,name', ...lines, ''].join('\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    add: () => addresses.push(added),
    close: () => server.close(),
  }
}

/** `iprisk start` in `folder`, until it serves. `build`: the flags of its first build. */
async function start(program, folder, build) {
  const ports = ['--port', '0', '--admin-port', '0', '--workers', '1']
  const child = spawn(process.execPath, [program, 'start', ...ports, ...build], { cwd: folder })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text))
  const end = async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  }
  const until = Date.now() + startMs
  let served
  while (served === undefined) {
    const isLate = Date.now() > until
    if (isLate) await end()
    if (child.exitCode !== null)
      throw new Error(`iprisk start ended with ${child.exitCode}: ${err}`)
    // The last that it prints is a request.
    if (/curl -s/.test(out + err)) served = /^iprisk serves (http:\S+) with/m.exec(err)?.[1]
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const [key] = /^irk_\S+$/m.exec(out) ?? []
  return { url: served, port: new URL(served).port, key, end }
}

async function classify(url, key, ip) {
  const response = await fetch(`${url}/v1/intelligence/ip-risk/check`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ip }),
  })
  const { classification } = await response.json()
  return `${response.status} ${classification}`
}

async function holdTor({ url }, key, ip) {
  const until = Date.now() + 30_000
  let answer = await classify(url, key, ip)
  // A new table is tried before it is taken in.
  while (answer !== '200 tor' && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    answer = await classify(url, key, ip)
  }
  if (answer !== '200 tor') throw new Error(`${ip} is ${answer}, not 200 tor`)
}

/**
 * The folder in which `commit`, compiled, has built a table and made a key; and that key.
 * `readings`, where it is given: the folder of what builds have read of networks and places.
 */
export async function serveBefore(commit, mirror, readings) {
  const clone = mkdtempSync(join(tmpdir(), 'iprisk-before-'))
  const git = (...args) => execFileSync('git', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  try {
    git('clone', '--quiet', '--shared', '--no-checkout', root, clone)
    git('-C', clone, 'checkout', '--quiet', commit)
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    execFileSync('npm', ['run', '--silent', 'compile'], { cwd: clone, stdio: 'pipe' })
    const folder = join(clone, 'trial')
    mkdirSync(folder)
    if (readings !== undefined) cpSync(readings, join(folder, 'data/cache'), { recursive: true })
    const server = await start(join(clone, 'dist/src/cli/main.js'), folder, [
      '--mirror',
      mirror.url,
    ])
    await server.end()
    return { clone, folder, key: server.key }
  } catch (error) {
    rmSync(clone, { recursive: true, force: true })
    throw error
  }
}

/** The program without the compiler's packages, in the folder of `serveBefore`. */
export async function serveOver(program, { folder, key }) {
  const server = await start(program, folder, [])
  try {
    if (server.key !== undefined) throw new Error('it made a first key: it has not found the state')
    await holdTor(server, key, exits[7])
  } finally {
    await server.end()
  }
  const { status, stderr } = spawnSync(process.execPath, [program, 'build'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 1 || !stderr.includes('npm install iprisk-compiler@')) {
    throw new Error(`iprisk build without the compiler ended with ${status}: ${stderr}`)
  }
}

/** The program with the compiler's packages, in an empty folder. */
export async function buildAndServe(program, folder, mirror) {
  const from = ['--mirror', mirror.url]
  const server = await start(program, folder, from)
  try {
    await holdTor(server, server.key, exits[7])
    mirror.add()
    // Not by execFileSync: the mirror is in this process.
    const run = (...args) =>
      promisify(execFile)(process.execPath, [program, ...args], { cwd: folder })
    await run('build', ...from)
    await run('reload', '--port', server.port)
    await holdTor(server, server.key, added)
  } finally {
    await server.end()
  }
}

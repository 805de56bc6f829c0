// The clients that people use, and senders that write as some do: each makes one check, and a
// second one on the same connection where it keeps it. What each gets, alone and behind the
// proxies, stands in docs/hostile.md. What is not installed is left out, unless in CI.

import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'undici'
import { newFolder } from '../build/fetch/site.ts'
import { checkPath, honestBody, wordsOf } from './framing-cases.ts'

const run = promisify(execFile)

export interface HonestClient {
  /** As docs/hostile.md has it. */
  readonly name: string
  /** Asks whether it is there; absent where it is a part of these tests. */
  readonly probe?: readonly [program: string, ...args: string[]]
  /** The statuses of its answers; none where it got no answer. */
  readonly ask: (port: number, key: string) => Promise<readonly number[]>
}

export function isThere({ probe }: HonestClient): boolean {
  if (probe === undefined || process.env['CI'] !== undefined) return true
  const [program, ...args] = probe
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}${checkPath}`
const type = 'Content-Type: application/json'
const authorization = (key: string): string => `Authorization: Bearer ${key}`
/** Debian's, for that is the one that has `requests`. */
const python = '/usr/bin/python3'

async function pythonStatuses(program: string, port: number, key: string): Promise<number[]> {
  const { stdout } = await run(python, ['-c', program, String(port), key, checkPath, honestBody])
  return stdout.split(/\s+/).filter(Boolean).map(Number)
}

export const honestClients: readonly HonestClient[] = [
  {
    name: 'curl',
    probe: ['curl', '--version'],
    ask: async (port, key) => {
      const one = [
        '-s',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code} %{num_connects}\n',
        '-d',
        honestBody,
      ]
      const all = [...one, '-H', type, '-H', authorization(key), urlOf(port)]
      const { stdout } = await run('curl', [...all, '--next', ...all])
      return [...stdout.matchAll(/^(\d{3}) /gm)].map(([, status]) => Number(status))
    },
  },
  {
    name: 'wrk',
    probe: ['sh', '-c', 'command -v wrk'],
    ask: async (port, key) => {
      const script = join(newFolder(), 'check.lua')
      writeFileSync(
        script,
        `wrk.method = 'POST'
         wrk.body = '${honestBody}'
         wrk.headers['Content-Type'] = 'application/json'
         wrk.headers['Authorization'] = 'Bearer ${key}'
         local last
         response = function(status)
           if status ~= last then io.write('status ', status, '\\n') end
           last = status
         end`,
      )
      const { stdout } = await run('wrk', ['-t1', '-c2', '-d1s', '-s', script, urlOf(port)], {
        maxBuffer: 64e6,
      })
      return [...stdout.matchAll(/^status (\d+)$/gm)].map(([, status]) => Number(status))
    },
  },
  {
    name: 'Python http.client',
    probe: [python, '--version'],
    ask: (port, key) =>
      pythonStatuses(
        `import sys, http.client
_, port, key, path, body = sys.argv
connection = http.client.HTTPConnection('127.0.0.1', int(port))
for _ in range(2):
    connection.request('POST', path, body, {'Authorization': 'Bearer ' + key})
    answer = connection.getresponse()
    answer.read()
    print(answer.status)`,
        port,
        key,
      ),
  },
  {
    name: 'Python requests',
    probe: [python, '-c', 'import requests'],
    ask: (port, key) =>
      pythonStatuses(
        `import sys, requests
_, port, key, path, body = sys.argv
session = requests.Session()
session.trust_env = False
for _ in range(2):
    answer = session.post('http://127.0.0.1:' + port + path, data=body,
        headers={'Authorization': 'Bearer ' + key, 'Content-Type': 'application/json'})
    print(answer.status_code)`,
        port,
        key,
      ),
  },
  {
    name: 'Go-like: head and body in separate writes',
    ask: async (port, key) => {
      const { honest } = wordsOf(key, 'go')
      const parts = [honest.slice(0, -honestBody.length), honestBody]
      return askRaw(port, [parts, parts])
    },
  },
  {
    name: 'undici',
    ask: async (port, key) => {
      const client = new Client(`http://127.0.0.1:${port}`)
      const statuses: number[] = []
      for (let i = 0; i < 2; i += 1) {
        const { statusCode, body } = await client.request({
          method: 'POST',
          path: checkPath,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: honestBody,
        })
        await body.dump()
        statuses.push(statusCode)
      }
      await client.close()
      return statuses
    },
  },
  {
    name: 'Java-like: names in capitals, offers HTTP/2, body in a separate write',
    ask: async (port, key) => {
      // What java.net.http.HttpClient of Java 17 writes.
      const head = [
        `POST ${checkPath} HTTP/1.1`,
        'Connection: Upgrade, HTTP2-Settings',
        `Content-Length: ${honestBody.length}`,
        `Host: 127.0.0.1:${port}`,
        'HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA',
        'Upgrade: h2c',
        'User-Agent: Java-http-client/17.0.15',
        authorization(key),
        type,
      ]
      const parts = [`${head.join('\r\n')}\r\n\r\n`, honestBody]
      return askRaw(port, [parts, parts])
    },
  },
  {
    name: 'ab, which speaks HTTP/1.0',
    probe: ['ab', '-V'],
    ask: async (port, key) => {
      const body = join(newFolder(), 'body')
      writeFileSync(body, honestBody)
      const flags = ['-n', '2', '-v', '3', '-p', body, '-T', 'application/json']
      const { stdout } = await run('ab', [...flags, '-H', authorization(key), urlOf(port)])
      return [...stdout.matchAll(/^HTTP\/1\.\d (\d{3})/gm)].map(([, status]) => Number(status))
    },
  },
  {
    name: 'a sender that writes byte by byte',
    ask: (port, key) => askRaw(port, [wordsOf(key, 'bytes').honest.split('')]),
  },
]

/** So long is a connection silent before it counts as one that gets no answer. */
const silenceMs = 2500
/** Between two writes: the server reads one before the other is there. */
const gapMs = 4

/**
 * Writes requests, each in segments of its own, the next one when the one before is answered; gives the
 * statuses. Ends where the connection does.
 */
export function askRaw(
  port: number,
  requests: readonly (readonly string[])[],
): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let heard = ''
    const statuses = (): number[] =>
      [...heard.matchAll(/^HTTP\/1\.[01] ([2-5]\d\d) /gm)].map(([, status]) => Number(status))
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1')
      socket.emit('heard')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(statuses()))
    const answered = (count: number): Promise<void> =>
      new Promise((next) => {
        const look = (): void => {
          if (statuses().length >= count && isWhole(heard)) next()
        }
        socket.on('heard', look)
        look()
      })
    const writeAll = async (): Promise<void> => {
      for (const [at, parts] of requests.entries()) {
        for (const part of parts) {
          if (socket.destroyed || statuses().length > at) break
          socket.write(Buffer.from(part, 'latin1'))
          await new Promise((next) => setTimeout(next, gapMs))
        }
        await answered(at + 1)
      }
      socket.destroy()
    }
    socket.setTimeout(silenceMs, () => socket.destroy())
    socket.on('connect', () => void writeAll())
  })
}

/** The last answer in the text is there with its body. */
function isWhole(text: string): boolean {
  const last = text.slice(text.lastIndexOf('HTTP/1.'))
  const end = last.indexOf('\r\n\r\n')
  const [, length = '0'] = /^Content-Length: *(\d+)/im.exec(last.slice(0, end)) ?? []
  return end >= 0 && last.length >= end + 4 + Number(length)
}

// The load generator wrk (github.com/wg/wrk): its Lua script, its command line, its output.
// Requests are made before the load begins, so that a request costs the generator one table access.
// What is measured comes out as one line of JSON from the script's `done`, in whole microseconds,
// because wrk's own text is rounded.
//
// What wrk does not see: an answer of 3xx, and a connection that the server closes between two
// requests (it connects again without a word). The benchmark `http` checks answers one by one as
// well.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { IpriskError } from '../../../src/base/coded-error.ts'
import { flagsOf, runChild } from '../../harness/child.ts'
import { type LoadDriver, type LoadRequests, type LoadResult, driverMarginMs } from './load.ts'
import { pinned } from './pin.ts'

/** Marks the script's line among wrk's own. */
const resultMark = 'bench-result '

/** wrk's only fixed header beside ours: it adds Host and Content-Length. */
export function wrkScript(requests: LoadRequests, addressFile: string): string {
  const { carrier, path, headers, addressHeader = 'x-address' } = requests
  const headerLines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`,
  )
  const format = {
    body: `wrk.format(nil, ${quote(path)}, nil, '{"ip":"' .. address .. '"}')`,
    header: `wrk.format(nil, ${quote(path)})`,
    whole: `wrk.format(nil, ${quote(path)}, nil, address)`,
  }[carrier]
  const before = carrier === 'header' ? `    wrk.headers['${addressHeader}'] = address\n` : ''
  return `wrk.method = "${carrier === 'header' ? 'GET' : 'POST'}"
${headerLines.join('\n')}

local threads = 0
function setup(thread)
  thread:set("first", threads)
  threads = threads + 1
end

local requests = {}
local count = 0
local at = 0
function init()
  for address in io.lines(${quote(addressFile)}) do
    count = count + 1
${before}    requests[count] = ${format}
  end
  -- Threads begin far apart, so that they do not ask for the same addresses at the same time.
  at = (first * 7919) % count
end

function request()
  at = at % count + 1
  return requests[at]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '${resultMark}{"requests":%d,"us":%d,"p50":%d,"p99":%d,"p999":%d,"max":%d,' ..
    '"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    latency:percentile(99.9), latency.max, e.status, e.connect, e.read, e.write, e.timeout))
end
`
}

/** JSON's quoting of printable ASCII is Lua's too; what else there is must not reach a script. */
function quote(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new RangeError('Only printable ASCII goes into a script.')
  return JSON.stringify(text)
}

/** What `done` wrote, out of all that wrk printed. Throws `bench_failed`. */
export function parseWrk(output: string): LoadResult {
  const line = output.split('\n').find((text) => text.startsWith(resultMark))
  if (line === undefined) {
    throw new IpriskError({
      code: 'bench_failed',
      message: `wrk printed no result: ${output.slice(-500)}`,
      fault: 'environment',
    })
  }
  const said = JSON.parse(line.slice(resultMark.length)) as Readonly<Record<string, number>>
  const number = (name: string): number => {
    const value = said[name]
    if (typeof value === 'number') return value
    throw new IpriskError({
      code: 'bench_failed',
      message: `wrk's result has no ${name}: ${line}`,
      fault: 'environment',
    })
  }
  return {
    requests: number('requests'),
    seconds: number('us') / 1_000_000,
    latencyUs: {
      p50: number('p50'),
      p99: number('p99'),
      p999: number('p999'),
      max: number('max'),
    },
    errors: {
      status: number('status'),
      connect: number('connect'),
      read: number('read'),
      write: number('write'),
      timeout: number('timeout'),
    },
  }
}

/** Throws `bench_failed` where wrk is not installed. */
export function wrkDriver(): LoadDriver {
  const version = wrkVersion()
  if (version === undefined) {
    throw new IpriskError({
      code: 'bench_failed',
      message:
        'The load generator wrk is not installed: "apt-get install wrk", or build it from ' +
        'github.com/wg/wrk.',
      fault: 'environment',
    })
  }
  return {
    name: `wrk ${version}`,
    prepare: (requests, place) => {
      // Of its own: several may be prepared in one place.
      const folder = mkdtempSync(join(place, 'wrk-'))
      const addressFile = join(folder, 'addresses.txt')
      const script = join(folder, 'requests.lua')
      writeFileSync(addressFile, requests.addresses.map((address) => `${address}\n`).join(''))
      writeFileSync(script, wrkScript(requests, addressFile))
      return async ({ port, seconds, connections, threads, cores, timeoutSeconds = 2 }) => {
        const command = pinned(cores, [
          'wrk',
          ...flagsOf({ threads: Math.min(threads, connections), connections }),
          ...flagsOf({ duration: `${seconds}s`, timeout: `${timeoutSeconds}s`, script }),
          `http://127.0.0.1:${port}`,
        ])
        return parseWrk(await runChild(command, { timeoutMs: seconds * 1000 + driverMarginMs }))
      }
    },
  }
}

function wrkVersion(): string | undefined {
  try {
    // It prints its version, then its usage, and exits with 1.
    execFileSync('wrk', ['-v'], { encoding: 'utf8', stdio: 'pipe', timeout: 5000 })
    return undefined
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
    return /^wrk (\S+)/.exec(said)?.[1]
  }
}

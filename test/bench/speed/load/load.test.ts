// What the load generators print, and what they are given. The outputs are written after wrk's
// SCRIPTING page and autocannon's README, not recorded from a run.

import { describe, expect, it } from 'vitest'
import { parseAutocannon } from '../../../../bench/speed/load/autocannon.ts'
import { errorCount } from '../../../../bench/speed/load/load.ts'
import { parseWrk, wrkScript } from '../../../../bench/speed/load/wrk.ts'

const wrkText = `Running 10s test @ http://127.0.0.1:8080
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   532.10us  210.44us   9.87ms   91.20%
    Req/Sec   118.33k     3.05k  122.51k    88.00%
  1177410 requests in 10.00s, 0.93GB read
  Socket errors: connect 0, read 3, write 0, timeout 1
  Non-2xx or 3xx responses: 2
Requests/sec: 117710.33
Transfer/sec:     95.42MB
`
const wrkResult =
  'bench-result {"requests":1177410,"us":10002600,"p50":521,"p99":1204,"p999":3310,"max":9870,' +
  '"status":2,"connect":0,"read":3,"write":0,"timeout":1}\n'

describe("wrk's output", () => {
  it('is read from the line of the script', () => {
    const result = parseWrk(wrkText + wrkResult)
    expect(result).toEqual({
      requests: 1_177_410,
      seconds: 10.0026,
      latencyUs: { p50: 521, p99: 1204, p999: 3310, max: 9870 },
      errors: { status: 2, connect: 0, read: 3, write: 0, timeout: 1 },
    })
    expect(errorCount(result.errors)).toBe(6)
  })

  it('is refused without that line, or without a number in it', () => {
    expect(() => parseWrk(wrkText)).toThrow('no result')
    expect(() => parseWrk(wrkResult.replace('"timeout":1', '"other":1'))).toThrow('no timeout')
  })
})

describe("wrk's script", () => {
  const requests = {
    carrier: 'body',
    path: '/check',
    headers: { authorization: 'Bearer a"b' },
    addresses: [],
  } as const

  it('has the request in it, quoted', () => {
    const script = wrkScript(requests, '/tmp/addresses.txt')
    expect(script).toContain('wrk.headers["authorization"] = "Bearer a\\"b"')
    expect(script).toContain('io.lines("/tmp/addresses.txt")')
    expect(script).toContain('wrk.format(nil, "/check", nil, ')
  })

  it('sends whole bodies as they are', () => {
    const script = wrkScript({ ...requests, carrier: 'whole' }, '/tmp/bodies.txt')
    expect(script).toContain('wrk.method = "POST"')
    expect(script).toContain('wrk.format(nil, "/check", nil, address)')
  })

  it('asks by a header where the server reads no body', () => {
    const script = wrkScript({ ...requests, carrier: 'header' }, '/tmp/addresses.txt')
    expect(script).toContain('wrk.method = "GET"')
    expect(script).toContain("wrk.headers['x-address'] = address")
    expect(script).not.toContain('"ip"')
  })

  it('takes no text that would be something else in Lua', () => {
    expect(() => wrkScript({ ...requests, path: '/\n' }, '/tmp/a')).toThrow(RangeError)
  })
})

describe("autocannon's output", () => {
  const json = {
    duration: 10.04,
    requests: { total: 98_000 },
    latency: { p50: 6, p99: 11, p99_9: 20, max: 41 },
    non2xx: 4,
    errors: 5,
    timeouts: 2,
  }

  it('is read from its JSON, timeouts taken out of the errors', () => {
    const result = parseAutocannon(`${JSON.stringify(json)}\n`)
    expect(result.requests).toBe(98_000)
    expect(result.seconds).toBe(10.04)
    expect(result.latencyUs).toEqual({ p50: 6000, p99: 11_000, p999: 20_000, max: 41_000 })
    expect(errorCount(result.errors)).toBe(9)
  })

  it('is refused where there is none', () => {
    expect(() => parseAutocannon('Running 10s test\n')).toThrow('no result')
  })
})

// What wrk prints, and what it is given. The output is written after wrk's SCRIPTING page, not
// recorded from a run.

import { afterEach, describe, expect, it } from 'vitest'
import { errorCount } from '../../../../bench/speed/load/load.ts'
import { parseWrk, wrkDriver, wrkScript } from '../../../../bench/speed/load/wrk.ts'

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

describe('without wrk', () => {
  const path = process.env['PATH']
  afterEach(() => {
    process.env['PATH'] = path
  })

  it('says how to get it', () => {
    process.env['PATH'] = '/nowhere'
    expect(() => wrkDriver()).toThrow('wrk is not installed: "apt-get install wrk"')
  })
})

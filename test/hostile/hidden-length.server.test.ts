// The gap of docs/hostile.md that stays open: a second length behind an empty header name. What
// uWebSockets.js shows of such a request, by all that it offers, is what it shows of an honest one.
// A binding that shows more fails here: then the guard can close the gap.

import { connect } from 'node:net'
import type { TemplatedApp } from 'uWebSockets.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadUws } from '../../src/http/listen/load-uws.ts'
import { honestBody, wordsOf } from './framing-cases.ts'

/** All that a handler can learn of one request. */
interface View {
  readonly headers: readonly string[]
  readonly length: string
  readonly empty: string
  readonly query: string
  /** Of each call of onData: how many arguments, and the bytes. */
  readonly data: (readonly [count: number, bytes: number])[]
}

let app: TemplatedApp
let port = 0
/** Whether answers come from a later turn of the loop than their requests. */
let isLater = false
const views: View[] = []

beforeAll(async () => {
  const uws = await loadUws()
  app = uws.App().any('/*', (res, req) => {
    const headers: string[] = []
    req.forEach((name, value) => headers.push(`${name}: ${value}`))
    const view: View = {
      headers,
      length: req.getHeader('content-length'),
      empty: req.getHeader(''),
      query: req.getQuery(),
      data: [],
    }
    views.push(view)
    let isGone = false
    res.onAborted(() => (isGone = true))
    const answer = (): void => {
      if (!isGone) res.cork(() => res.end('{}'))
    }
    res.onData((...given) => {
      view.data.push([given.length, given[0].byteLength])
      if (!given[1]) return
      if (isLater) setImmediate(answer)
      else answer()
    })
  })
  port = await new Promise((resolve, reject) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) reject(new Error('there is no port'))
      else resolve(uws.us_socket_local_port(socket))
    })
  })
})

afterAll(() => {
  app.close()
})

const { head, smuggled } = wordsOf('none', 'hidden')
const honestHead = `${head}Content-Length: ${honestBody.length}\r\n\r\n`
const hidden = `: x\r\nContent-Length: ${honestBody.length + smuggled.length}\r\n`
const hidingHead = honestHead.replace(/\r\n$/, `${hidden}\r\n`)

/** Writes each part when the one before is answered; how many answers come before the end. */
function answersTo(parts: readonly string[]): Promise<number> {
  views.length = 0
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let text = ''
    let written = 0
    const count = (): number => text.split('HTTP/1.1 200').length - 1
    const writeNext = (): void => {
      const part = parts[written]
      written += 1
      if (part !== undefined) socket.write(part)
      // The end is read behind all that was written.
      else socket.end()
    }
    socket.on('connect', writeNext)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (count() >= written) writeNext()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(count()))
  })
}

describe('a second length behind an empty header name', () => {
  it('is not shown by uWebSockets.js, in any way that it has', async () => {
    isLater = false
    expect(await answersTo([honestHead + honestBody])).toBe(1)
    const [honest] = views
    expect(await answersTo([hidingHead + honestBody])).toBe(1)
    expect(views).toEqual([honest])
    expect(honest).toMatchObject({ length: '16', empty: '', data: [[2, 16]] })
  })

  it('makes two of one request: where both are in one read, unless the answer comes later', async () => {
    isLater = false
    expect(await answersTo([hidingHead + honestBody + smuggled])).toBe(2)
    isLater = true
    expect(await answersTo([hidingHead + honestBody + smuggled])).toBe(0)
  })

  it('makes two of one request where the second is sent when the first is answered', async () => {
    isLater = true
    expect(await answersTo([hidingHead + honestBody, smuggled])).toBe(2)
  })
})

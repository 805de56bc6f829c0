// A client without an HTTP library: bytes out, bytes in, and what the bytes in say.

import { connect } from 'node:net'

export interface Heard {
  readonly text: string
  /** The server closed the connection. */
  readonly closed: boolean
}

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Sends the parts one after the other, in segments of their own, and listens until the server
 * closes or says nothing for `quietMs`; where it has said nothing at all, for `silentMs`: a busy
 * machine may take its time to begin.
 */
export function converse(
  port: number,
  parts: readonly (string | Uint8Array)[],
  options: {
    readonly quietMs?: number
    readonly silentMs?: number
    readonly gapMs?: number
    /** An address of this machine, 127.0.0.1 otherwise; the server is asked at ::1 from ::1. */
    readonly from?: string
  } = {},
): Promise<Heard> {
  const { quietMs = 250, gapMs = 15, from = '127.0.0.1' } = options
  const silentMs = Math.max(quietMs, options.silentMs ?? 3000)
  return new Promise((resolve) => {
    const socket = connect({
      port,
      host: from.includes(':') ? from : '127.0.0.1',
      localAddress: from,
      noDelay: true,
    })
    const chunks: Buffer[] = []
    let timer: NodeJS.Timeout | undefined
    const finish = (closed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text: Buffer.concat(chunks).toString('latin1'), closed })
    }
    const wait = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => finish(false), chunks.length === 0 ? silentMs : quietMs)
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (timer !== undefined) wait()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => finish(true))
    socket.on('connect', () => void sendAll())
    const sendAll = async (): Promise<void> => {
      for (const [i, part] of parts.entries()) {
        if (i > 0) await new Promise((next) => setTimeout(next, gapMs))
        if (socket.destroyed) return
        socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
      }
      wait()
    }
  })
}

/** The responses in a stream of them; interim ones (100) are left out. */
export function responsesIn(text: string): Response[] {
  const responses: Response[] = []
  let rest = text
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) throw new Error(`half a response: ${JSON.stringify(rest)}`)
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers: Record<string, string> = {}
    for (const line of lines) {
      const colon = line.indexOf(':')
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
    }
    const status = Number(first.split(' ')[1])
    const length = Number(headers['content-length'] ?? 0)
    const body = rest.slice(end + 4, end + 4 + length)
    if (body.length < length && body.length > 0) throw new Error('half a body')
    if (status >= 200) responses.push({ status, headers, body: decode(body) })
    rest = rest.slice(end + 4 + body.length)
  }
  return responses
}

function decode(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8')
}

// The control socket: requests and replies, and whose it is when one server takes over from
// another.

import { existsSync, mkdtempSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type ControlSocket,
  sendControlRequest,
  controlSocketPath,
  openControlSocket,
} from '../../../src/supervisor/sockets/control-socket.ts'

let path = ''
const open: ControlSocket[] = []

beforeEach(() => {
  path = controlSocketPath(mkdtempSync(join(tmpdir(), 'iprisk-control-')), 8080)
})
afterEach(async () => {
  for (const control of open.splice(0)) await control.close()
})

async function listen(name: string): Promise<ControlSocket> {
  const control = await openControlSocket(path, async (request) => ({
    ok: true,
    text: `${name} ${request}`,
  }))
  open.push(control)
  return control
}

describe('the control socket', () => {
  it('answers requests, and nobody but its user may ask', async () => {
    await listen('one')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await sendControlRequest(path, 'reload')).toEqual({ ok: true, text: 'one reload' })
    expect(await sendControlRequest(path, 'rollback')).toEqual({ ok: true, text: 'one rollback' })
  })

  it('says that there is no such request', async () => {
    await listen('one')
    const socket = connect(path)
    socket.write('"explode"\n')
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    expect(JSON.parse(text)).toMatchObject({ ok: false })
  })

  it('cuts a client off that sends no end of a line', async () => {
    await listen('one')
    const socket = connect(path)
    socket.on('error', () => undefined)
    const piece = 'x'.repeat(65_536)
    const send = (): unknown => socket.writable && socket.write(piece, send)
    send()
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
    expect(socket.bytesWritten).toBeLessThan(64 * piece.length)
    expect(await sendControlRequest(path, 'reload')).toEqual({ ok: true, text: 'one reload' })
  })

  it('passes on what a request throws as its answer', async () => {
    open.push(await openControlSocket(path, () => Promise.reject(new Error('it broke'))))
    expect(await sendControlRequest(path, 'restart')).toEqual({ ok: false, text: 'it broke' })
  })

  it('is the newer server’s, also after the older one has closed', async () => {
    const older = await listen('older')
    await listen('newer')
    expect(await sendControlRequest(path, 'reload')).toEqual({ ok: true, text: 'newer reload' })
    await older.close()
    expect(await sendControlRequest(path, 'reload')).toEqual({ ok: true, text: 'newer reload' })
  })

  it('is gone with its server, and then nobody answers', async () => {
    const control = await listen('one')
    await control.close()
    expect(existsSync(path)).toBe(false)
    expect(await sendControlRequest(path, 'reload')).toBeUndefined()
  })

  it('closes while a client holds it that asks nothing, and one that waits', async () => {
    let asked = (): void => undefined
    const asking = new Promise<void>((resolve) => (asked = resolve))
    let answer = (): void => undefined
    const control = await openControlSocket(path, async () => {
      asked()
      await new Promise<void>((resolve) => (answer = resolve))
      return { ok: true, text: 'too late' }
    })
    const idle = connect(path)
    await once(idle, 'connect')
    const reply = sendControlRequest(path, 'restart')
    await asking
    await control.close()
    answer()
    expect(await reply).toMatchObject({ ok: false, silent: true })
    idle.destroy()
  })

  it('that does not answer is told apart from one that refuses', async () => {
    const control = await openControlSocket(path, () => new Promise(() => undefined))
    expect(await sendControlRequest(path, 'yield', 50)).toEqual({
      ok: false,
      text: 'The server does not answer.',
      silent: true,
    })
    await control.close()
  })

  it('that cannot be opened says what will not work', async () => {
    const long = join(tmpdir(), 'x'.repeat(120), 'control.sock')
    await expect(openControlSocket(long, async () => ({ ok: true, text: '' }))).rejects.toThrow(
      /has 1\d\d bytes; .* 107\): "iprisk reload", "rollback" and "restart" will not reach this server/,
    )
  })
})

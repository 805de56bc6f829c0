// Logs: no key in any line, wherever it stands; no other secret and, by default, no address in a
// member of any line, however deep, nor in a member of an error. What messages say themselves is
// held by whole servers: test/admin/canary-secrets.world.test.ts and admin-exposure.world.test.ts.

import { describe, expect, it } from 'vitest'
import {
  formatKeyText,
  parseKeyText,
  randomId,
  randomSecret,
} from '../../src/account/keys/key-text.ts'
import type { Log } from '../../src/base/log.ts'
import { createLog } from '../../src/base/log.ts'

const text = formatKeyText({ id: randomId(), secret: randomSecret() })
const { id, secret } = parseKeyText(text) ?? { id: '', secret: '' }

function logged(
  options: { readonly pretty?: boolean; readonly addresses?: boolean },
  use: (log: Log) => void,
): string {
  let lines = ''
  const write = (line: string): void => {
    lines += line
  }
  use(createLog({ level: 'trace', name: 'test', pretty: false, ...options, write }))
  return lines
}

const secretNames =
  'token admin_token x-api-key apiKeys Set-Cookie Proxy-Authorization passphrase storePassword privateKey'.split(
    ' ',
  )

const everywhere = (log: Log): void => {
  log.info(`a key ${text} in a message`)
  log.info(
    { authorization: `Bearer ${text}`, key: text, Secret: secret, apiKey: secret },
    'members',
  )
  log.warn({ headers: { Authorization: `bearer ${secret}` }, list: [{ key: secret }] }, 'inside')
  log.error({ err: new Error(`bad key ${text}`) }, 'an error')
  log.error({ url: `http://x/?k=${text}`, cause: [text] }, 'under another name')
  for (const name of secretNames) {
    log.info({ [name]: secret, within: { [name]: [secret] } }, 'a name')
    log.error({ err: Object.assign(new Error('an error with it'), { [name]: secret }) }, 'failed')
  }
  log.child({ key: secret, note: text }).info('a child')
  log
    .child({ headers: { authorization: secret } })
    .child({ worker: 1 })
    .fatal('a child of it')
}

describe.each([{ pretty: false }, { pretty: true }])('a log with %o', (options) => {
  it('never tells a secret', () => {
    const lines = logged(options, everywhere)
    expect(lines).not.toContain(secret)
    expect(lines).not.toContain(text.slice(17))
    expect(lines).toContain(`irk_${id}_[redacted]`)
  })

  it('tells addresses only when asked to', () => {
    const use = (log: Log): void => {
      log.info({ ip: '198.51.100.1', remoteAddress: '198.51.100.2', count: 3 }, 'one')
      log.child({ deep: { addresses: ['198.51.100.3'] } }).info('two')
      log.warn({ 'X-Forwarded-For': '198.51.100.4', client_ip: '198.51.100.5' }, 'three')
      const refused = Object.assign(new Error('refused'), { address: '198.51.100.6' })
      log.error({ err: refused }, 'four')
    }
    const without = logged(options, use)
    expect(without).not.toContain('198.51.100')
    expect(without).toMatch(/count\W+3/)
    const found = logged({ ...options, addresses: true }, use).match(/198\.51\.100\.\d/g)
    // For people an error is its stack alone.
    const last = options.pretty ? 5 : 6
    expect(found).toEqual(Array.from({ length: last }, (_, i) => `198.51.100.${i + 1}`))
  })
})

describe('lines', () => {
  it('are JSON objects with level, time, name and message', () => {
    const lines = logged({}, (log) => log.warn({ feed: 'x', day: new Date(0) }, 'hello'))
    expect(lines.endsWith('\n')).toBe(true)
    expect(JSON.parse(lines)).toEqual({
      level: 'warn',
      time: expect.any(Number),
      pid: process.pid,
      name: 'test',
      feed: 'x',
      day: '1970-01-01T00:00:00.000Z',
      msg: 'hello',
    })
  })

  it('below the level are not written', () => {
    let lines = 0
    const write = (): void => {
      lines += 1
    }
    const log = createLog({ level: 'warn', name: 'test', pretty: false, write })
    log.info('no')
    log.warn('yes')
    expect(lines).toBe(1)
  })

  it('for people are plain, with the stack of an error, and cannot steer the terminal', () => {
    const use = (log: Log): void => {
      const err = new Error('broken\n12:00:00 info  forged')
      log.error({ err, table: 'a b', n: 1, at: '\u202e' }, 'bad \u001b[31mred\nforged')
    }
    const lines = logged({ pretty: true }, use)
    expect(lines).toMatch(
      /^\d\d:\d\d:\d\d error bad \\u001b\[31mred\n {2}forged table="a b" n=1 at=\\u202e\n {2}Error: broken\n/,
    )
    const [, ...more] = lines.trimEnd().split('\n')
    expect(more.filter((line) => !line.startsWith('  '))).toEqual([])
    expect(lines).not.toContain('\u001b')
  })

  it('for programs are JSON that says the same and cannot steer a terminal either', () => {
    const text = 'csi \u009b31m, bidi \u202e, tag \u{e0041}, DEL \u007f'
    const lines = logged({}, (log) => log.warn({ text }, text))
    expect(JSON.parse(lines)).toMatchObject({ text, msg: text })
    expect(lines.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  it('survive a value that holds itself or is very deep', () => {
    const ring: Record<string, unknown> = {}
    ring['ring'] = ring
    expect(logged({}, (log) => log.info(ring, 'round'))).toContain('[deeper]')
  })
})

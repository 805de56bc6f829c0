// Addresses of stores: what is one, what is none, and that no secret of one is ever shown.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatSettingProblem } from '../../src/config/setting-problem.ts'
import type { Settings } from '../../src/config/settings.ts'
import { validateSettings } from '../../src/config/settings.ts'
import { parseStoreUrl, redactStoreUrl } from '../../src/config/values/store-url.ts'

describe('an address of a store', () => {
  it.each([
    [
      'redis://localhost',
      { kind: 'single', tls: false, hosts: [{ host: 'localhost', port: 6379 }], db: 0 },
    ],
    [
      'rediss://a%40b:p%3Aq%2F@[2001:db8::1]:7000/3',
      {
        kind: 'single',
        tls: true,
        hosts: [{ host: '2001:db8::1', port: 7000 }],
        db: 3,
        username: 'a@b',
        password: 'p:q/',
      },
    ],
    [
      'redis+sentinel://:x@one:1,two/main/2',
      {
        kind: 'sentinel',
        tls: false,
        hosts: [
          { host: 'one', port: 1 },
          { host: 'two', port: 26_379 },
        ],
        master: 'main',
        db: 2,
        password: 'x',
      },
    ],
    [
      'rediss+cluster://10.0.0.1,10.0.0.2:7001',
      {
        kind: 'cluster',
        tls: true,
        hosts: [
          { host: '10.0.0.1', port: 6379 },
          { host: '10.0.0.2', port: 7001 },
        ],
        db: 0,
      },
    ],
  ])('is %s', (text, parts) => {
    expect(parseStoreUrl(text)).toEqual(parts)
  })

  it.each([
    '',
    'localhost:6379',
    'http://localhost',
    'redis:localhost',
    'redis://',
    'redis://:password@',
    'redis://host:0',
    'redis://host:65536',
    'redis://host:port',
    'redis://one,two',
    'redis://host/db',
    'redis://host/1/2',
    'redis://host?db=1',
    'redis://host#1',
    'redis://us%er@host',
    'redis://ho st',
    'redis+sentinel://one,two',
    'redis+sentinel://one,two//0',
    'redis+cluster://one,two/1',
    'redis+cluster://one,,two',
  ])('is not %j', (text) => {
    expect(parseStoreUrl(text)).toBeUndefined()
  })

  it('is shown without its secrets, and means the same place', () => {
    const part = fc.string({ minLength: 1, maxLength: 12 })
    const shape = fc.constantFrom(
      'redis://@h:1/2',
      'rediss+cluster://@h:1,[::1]:2',
      'redis+sentinel://@h:1/m',
    )
    fc.assert(
      fc.property(shape, part, part, (form, user, secret) => {
        const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(`canary${secret}`)}@`
        const parts = parseStoreUrl(form.replace('@', credentials))
        expect(parts).toMatchObject({ username: user, password: `canary${secret}` })
        const shown = parts === undefined ? '' : redactStoreUrl(parts)
        expect(shown).not.toContain('canary')
        expect(shown).toBe(form.replace('@', ''))
      }),
    )
  })
})

describe('settings of a store', () => {
  let cwd = ''
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'iprisk-store-settings-'))
  })
  afterAll(() => rmSync(cwd, { recursive: true }))
  const judge = (
    flags: Readonly<Record<string, unknown>>,
    environment: Readonly<Record<string, string>> = {},
  ): Settings | string => {
    const judged = validateSettings({ command: 'serve', flags, environment, cwd })
    return 'length' in judged ? judged.map(formatSettingProblem).join('\n') : judged
  }
  const storeOf = (...sources: Parameters<typeof judge>): unknown => {
    const judged = judge(...sources)
    return typeof judged === 'string' ? judged : judged.store
  }

  it('are the state folder by default, and refuse while a store is away', () => {
    expect(storeOf({})).toEqual({ policy: 'refuse', timeoutMs: 300, replicas: 0 })
  })

  it('come from flags, variables and files', () => {
    writeFileSync(join(cwd, 'url'), 'rediss://user:canary@store\n')
    expect(
      storeOf(
        { storePolicy: 'serve', storeTimeoutMs: '50', storeCaFile: 'ca.pem' },
        { IPRISK_STORE_FILE: join(cwd, 'url') },
      ),
    ).toEqual({
      replicas: 0,
      url: 'rediss://user:canary@store',
      caFile: join(cwd, 'ca.pem'),
      policy: 'serve',
      timeoutMs: 50,
    })
  })

  it.each([
    [{ store: 'redis://user:canary@host:0' }, 'store.url'],
    [{ store: 'redis://user:can/canary@ho st' }, 'store.url'],
    [{ store: 'user:canary' }, 'store.url'],
    [{ store: 'redis://:canary@host', storePasswordFile: 'x' }, 'already has a password'],
    [{ store: 'redis://:canary@host', storeCaFile: 'x' }, 'needs TLS'],
    [{ storePasswordFile: 'x' }, 'needs store.url'],
    [{ store: 'redis://:canary@host', storePolicy: 'maybe' }, 'one of refuse, serve'],
    [{ store: 'redis://:canary@host', storeTimeoutMs: '5' }, 'milliseconds from 10 to 1000'],
  ])('that cannot be used are told without the secret: %j', (flags, why) => {
    const judged = judge(flags)
    expect(judged).toContain(why)
    expect(judged).not.toContain('canary')
  })

  it('in a member that nobody knows are told without the secret', () => {
    writeFileSync(
      join(cwd, 'iprisk.json'),
      JSON.stringify({ stor: { url: 'redis://u:can"ary@h' }, store: { uri: 'redis://:canary@h' } }),
    )
    const judged = judge({})
    expect(judged).toContain('store')
    expect(judged).not.toMatch(/canary|ary@/)
  })
})

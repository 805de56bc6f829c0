// Mistakes of the options throw when the client is made, with a sentence, and never with the key.

import { describe, expect, it } from 'vitest'
import { type ClientOptions, clientSettings } from '../../../src/client/core/client-options.ts'

const good = { url: 'http://127.0.0.1:8080', key: 'irk_a_b' }

describe('the options of a client', () => {
  it.each<[Partial<Record<keyof ClientOptions, unknown>>, string]>([
    [{ url: '' }, '`url`'],
    [{ url: '127.0.0.1:8080' }, '`url`'],
    [{ url: 'ftp://a' }, '`url`'],
    [{ url: 'http://a/?x' }, '`url`'],
    [{ url: 'http://user:secret@a' }, '`key`'],
    [{ key: undefined }, '`key`'],
    [{ key: '' }, '`key`'],
    [{ key: 'irk_secret\n' }, 'white space'],
    [{ url: null }, '`url`'],
    [{ url: Symbol('url') }, '`url`'],
    [{ key: null }, '`key`'],
    [{ fallback: 403 }, '`fallback`'],
    [{ fallback: null }, '`fallback`'],
    [{ fallback: ['block'] }, '`fallback`'],
    [{ fallback: { timout: 'block' } }, 'actions for timeout, unavailable, limited'],
    [{ fallback: '' }, '`fallback`'],
    [{ fallback: { timeout: '' } }, '`fallback`'],
    [{ fallback: { limited: null } }, '`fallback`'],
    [{ fallback: { misconfigured: 403 } }, '`fallback`'],
    [{ timeoutMs: 0 }, '`timeoutMs`'],
    [{ timeoutMs: Number.NaN }, '`timeoutMs`'],
    [{ timeoutMs: 2 ** 31 }, '`timeoutMs`'],
    [{ cacheMs: -1 }, '`cacheMs`'],
    [{ cacheMax: '10' }, '`cacheMax`'],
    [{ hedgeMs: 0 }, '`hedgeMs`'],
    [{ batchTimeoutMs: true }, '`batchTimeoutMs`'],
    [{ circuitFailures: {} }, '`circuitFailures`'],
    [{ circuitMs: 1n }, '`circuitMs`'],
    [{ onUnavailable: 'log' }, '`onUnavailable` must be of type function'],
    [{ onMisconfigured: null }, '`onMisconfigured` must be of type function'],
    [{ transport: null }, '`transport`'],
    [{ transport: {} }, '`transport`'],
    [{ transport: { send: () => undefined } }, '`transport`'],
    [{ transport: { close: () => undefined } }, '`transport`'],
  ])('%o is refused', (wrong, said) => {
    const made = (): unknown => clientSettings({ ...good, ...wrong } as ClientOptions)
    expect(made).toThrow(TypeError)
    expect(made).toThrow(said)
    expect(made).toThrow(expect.objectContaining({ code: 'usage' }))
    expect(made).not.toThrow(/secret/)
  })

  it.each([undefined, null, 'http://127.0.0.1:8080'])('cannot be %j', (options) => {
    const made = (): unknown => clientSettings(options as unknown as ClientOptions)
    expect(made).toThrow('iprisk: the options must be an object.')
  })

  it('may be undefined', () => {
    const none = { onUnavailable: undefined, transport: undefined, fallback: undefined }
    expect(clientSettings({ ...good, ...none } as unknown as ClientOptions).timeoutMs).toBe(150)
  })

  it('have defaults', () => {
    expect(clientSettings({ ...good, url: 'https://a.example/risk/' })).toMatchObject({
      url: 'https://a.example/risk',
      timeoutMs: 150,
      cacheMs: 5000,
      cacheMax: 10_000,
      fallback: { timeout: 'allow', misconfigured: 'allow', invalid_address: 'challenge' },
    })
    expect(clientSettings({ ...good, cacheMax: 20_000 }).cacheMax).toBe(10_000)
  })

  it('have a fallback for all reasons or for each', () => {
    const all = clientSettings({ ...good, fallback: 'block' }).fallback
    expect(new Set(Object.values(all))).toEqual(new Set(['block']))
    const one = clientSettings({ ...good, fallback: { timeout: 'challenge' } }).fallback
    expect(one).toMatchObject({ timeout: 'challenge', unavailable: 'allow' })
  })

  it('have the default for a reason that is undefined', () => {
    const fallback = { unavailable: undefined } as unknown as { unavailable: 'allow' }
    expect(clientSettings({ ...good, fallback }).fallback.unavailable).toBe('allow')
  })
})

// Which wrong tokens are told to wait, and that a right one never is.

import { describe, expect, it } from 'vitest'
import type { AdminCaller } from '../../src/admin/admin-caller.ts'
import { createTokenGuard, wrongTokensPerMinute } from '../../src/admin/token-guard.ts'

const maria: AdminCaller = { role: 'admin', name: 'maria', via: 'admin port' }
const newGuard = () => createTokenGuard((token) => (token === 'maria' ? maria : undefined))

describe('the guard of tokens', () => {
  it('lets a line send a few wrong ones a minute, and counts IPv6 by /64', () => {
    const guard = newGuard()
    for (let i = 0; i < wrongTokensPerMinute; i += 1) {
      expect(guard('x', '2a00:1:2:3::5', 1000)).toBe(undefined)
    }
    expect(guard('x', '2a00:1:2:3::6%eth0', 1000)).toEqual({ waitSeconds: 59 })
    expect(guard('x', '2a00:1:2:4::6', 1000)).toBe(undefined)
    expect(guard('x', '2a00:1:2:3::6', 60_000)).toBe(undefined)
  })

  it('counts IPv4 clients of a port on :: one by one', () => {
    const guard = newGuard()
    for (let i = 0; i < wrongTokensPerMinute; i += 1) guard('x', '::ffff:192.0.2.1', 0)
    expect(guard('x', '::ffff:192.0.2.1', 0)).toEqual({ waitSeconds: 60 })
    expect(guard('x', '::ffff:192.0.2.2', 0)).toBe(undefined)
  })

  it('accepts a right token, whatever others guess from its address or from all', () => {
    const guard = newGuard()
    for (let i = 0; i < 30_000; i += 1) guard('x', `127.7.${(i >> 8) & 255}.${i & 255}`, 0)
    for (let i = 0; i < 1000; i += 1) guard('x', '127.0.0.1', 0)
    expect(guard('maria', '127.0.0.1', 0)).toBe(maria)
    expect(guard('maria', undefined, 0)).toBe(maria)
  })
})

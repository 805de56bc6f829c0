// Which wrong tokens lock whom out: by line, and above the limit of all lines.

import { describe, expect, it } from 'vitest'
import type { AdminCaller } from '../../src/admin/admin-caller.ts'
import {
  createTokenGuard,
  wrongTokensOfAllPerMinute,
  wrongTokensPerMinute,
} from '../../src/admin/token-guard.ts'

const maria: AdminCaller = { role: 'admin', name: 'maria', via: 'admin port' }
const otto: AdminCaller = { role: 'viewer', name: 'otto', via: 'admin port' }
const callers: Readonly<Record<string, AdminCaller>> = { maria, otto }
const newGuard = () => createTokenGuard((token) => callers[token])

describe('the guard of tokens', () => {
  it('lets a line send a few wrong ones a minute, and counts IPv6 by /64', () => {
    const guard = newGuard()
    for (let i = 0; i < wrongTokensPerMinute; i += 1) {
      expect(guard('x', '2a00:1:2:3::5', 1000)).toBe(undefined)
    }
    expect(guard('x', '2a00:1:2:3::6%eth0', 1000)).toEqual({ waitSeconds: 59 })
    expect(guard('maria', '2a00:1:2:3::6', 1000)).toEqual({ waitSeconds: 59 })
    expect(guard('maria', '2a00:1:2:4::6', 1000)).toBe(maria)
    expect(guard('maria', '2a00:1:2:3::6', 60_000)).toBe(maria)
  })

  it('counts IPv4 clients of a port on :: one by one', () => {
    const guard = newGuard()
    for (let i = 0; i < wrongTokensPerMinute; i += 1) guard('x', '::ffff:192.0.2.1', 0)
    expect(guard('maria', '::ffff:192.0.2.1', 0)).toEqual({ waitSeconds: 60 })
    expect(guard('maria', '::ffff:192.0.2.2', 0)).toBe(maria)
  })

  it('keeps no line out for what others sent, however many they are', () => {
    const guard = newGuard()
    guard('maria', '192.0.2.1', 0)
    guard('x', '192.0.2.1', 0)
    guard('x', '192.0.2.2', 0)
    for (let i = 2; i < wrongTokensOfAllPerMinute; i += 1) {
      expect(guard('x', `127.7.${i >> 8}.${i & 255}`, 0)).toBe(undefined)
    }
    // One that has sent a wrong one waits, but for a token that was right there before.
    expect(guard('otto', '192.0.2.2', 0)).toEqual({ waitSeconds: 60 })
    expect(guard('otto', '192.0.2.1', 0)).toEqual({ waitSeconds: 60 })
    expect(guard('maria', '192.0.2.1', 0)).toBe(maria)
    expect(guard('otto', '192.0.2.3', 0)).toBe(otto)
    expect(guard('otto', '192.0.2.2', 60_000)).toBe(otto)
  })

  it('lets a token that was right there in, whatever others on its line guess', () => {
    const guard = newGuard()
    guard('maria', '127.0.0.1', 0)
    for (let i = 0; i <= wrongTokensPerMinute; i += 1) guard('x', '127.0.0.1', 0)
    expect(guard('maria', '127.0.0.1', 0)).toBe(maria)
    expect(guard('otto', '127.0.0.1', 0)).toEqual({ waitSeconds: 60 })
  })
})

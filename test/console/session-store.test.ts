// Sessions of the console, by a clock of the tests' own.

import { describe, expect, it } from 'vitest'
import { unnamedAdmin } from '../../src/admin/admin-caller.ts'
import {
  createSessionStore,
  consoleIdleMsMax,
  consoleSessionMsMax,
  consoleSessionsMax,
} from '../../src/console/session-store.ts'

describe('a session', () => {
  it('has an id of its own each time, and is found by nothing else', () => {
    const store = createSessionStore()
    const [one, two] = [store.open(unnamedAdmin, 0), store.open(unnamedAdmin, 0)]
    for (const secret of [one.id, one.csrf]) expect(secret).toMatch(/^[\w-]{43}$/)
    expect(new Set([one.id, two.id, one.csrf, two.csrf]).size).toBe(4)
    const { csrf, ...found } = one
    expect(store.find(one, 1)).toEqual(found)
    expect(found).toMatchObject({ caller: { via: 'console' } })
    for (const id of ['', csrf, `${one.id} `, two.id]) {
      expect(store.find({ id, csrf }, 1)).toBe(undefined)
    }
    store.close(one.id)
    expect(store.find(one, 1)).toBe(undefined)
    expect(store.find(two, 1)).toBeDefined()
  })

  it('is not found by its id alone, nor kept alive by it', () => {
    const store = createSessionStore()
    const { id, csrf } = store.open(unnamedAdmin, 0)
    for (const wrong of ['', id, `${csrf} `, csrf.slice(1)]) {
      expect(store.find({ id, csrf: wrong }, consoleIdleMsMax - 1)).toBe(undefined)
    }
    expect(store.find({ id, csrf }, consoleIdleMsMax)).toBe(undefined)
  })

  it('ends after an hour without a request, and twelve hours after its login', () => {
    const store = createSessionStore()
    const one = store.open(unnamedAdmin, 0)
    expect(store.find(one, consoleIdleMsMax - 1)).toBeDefined()
    let now = consoleIdleMsMax - 1
    for (; now < consoleSessionMsMax; now += consoleIdleMsMax - 1) {
      expect(store.find(one, now)).toBeDefined()
    }
    expect(store.find(one, consoleSessionMsMax)).toBe(undefined)
    const idle = store.open(unnamedAdmin, 0)
    expect(store.find(idle, consoleIdleMsMax)).toBe(undefined)
  })

  it('ends for another one where there are too many: the one that rests longest', () => {
    const store = createSessionStore()
    const opened = Array.from({ length: consoleSessionsMax }, (_, at) =>
      store.open(unnamedAdmin, at),
    )
    const [first, second] = [opened[0]!, opened[1]!]
    expect(store.find(first, 200)).toBeDefined()
    store.open(unnamedAdmin, 201)
    expect(store.size()).toBe(consoleSessionsMax)
    expect(store.find(first, 202)).toBeDefined()
    expect(store.find(second, 202)).toBe(undefined)
  })

  it('ends for no other caller, however often one logs in', () => {
    const store = createSessionStore()
    const admin = store.open(unnamedAdmin, 0)
    const viewer = { role: 'viewer', name: 'wall', via: 'console' } as const
    for (let at = 1; at <= consoleSessionsMax + 1; at += 1) store.open(viewer, at)
    expect(store.size()).toBe(1 + consoleSessionsMax)
    expect(store.find(admin, consoleSessionsMax + 2)).toBeDefined()
  })
})

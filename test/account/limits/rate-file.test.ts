// The rate file: who gets which slot, what another process sees, and what becomes of a file that is
// damaged, full, or of another run of the machine.

import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RateFile, openRateFile } from '../../../src/account/limits/rate-file.ts'

const size = { slots: 64, keysMax: 48 }
const rate = { perSecond: 50, burst: 100 }
let state = ''
let files: RateFile[] = []
const open = (boot = 'first-boot'): RateFile => {
  const file = openRateFile(state, { boot, size })
  files.push(file)
  return file
}

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'iprisk-rates-'))
})
afterEach(() => {
  for (const file of files) file.close()
  files = []
  rmSync(state, { recursive: true })
})

describe('the rate file', () => {
  it('gives each key and limit a slot of its own, the same one to everybody', () => {
    const one = open()
    const other = open()
    const slots = new Set<number>()
    for (let i = 0; i < 40; i += 1) {
      const slot = one.slotOf(`key${i}`, rate)
      slots.add(slot)
      expect(other.slotOf(`key${i}`, rate)).toBe(slot)
    }
    expect(slots.size).toBe(40)
    expect(one.slotOf('key1', { ...rate, burst: 101 })).not.toBe(one.slotOf('key1', rate))
    expect(other.counts()).toEqual({ used: 41, max: 48 })
    one.words[one.slotOf('key7', rate)] = 123_456
    expect(other.words[other.slotOf('key7', rate)]).toBe(123_456)
  })

  it('keeps the numbers when everybody has gone', () => {
    const before = open()
    before.words[before.slotOf('key', rate)] = -77
    before.close()
    files = []
    const after = open()
    expect(after.words[after.slotOf('key', rate)]).toBe(-77)
  })

  it('has no slot for a key beyond its limit, and still has those it gave', () => {
    const file = open()
    const slots = Array.from({ length: 60 }, (_, i) => file.slotOf(`key${i}`, rate))
    expect(slots.filter((slot) => slot >= 0)).toHaveLength(48)
    expect(slots.slice(48).every((slot) => slot === -1)).toBe(true)
    expect(file.slotOf('key3', rate)).toBe(slots[3])
  })

  it('takes over a slot that somebody died on between its two words', () => {
    const file = open()
    const at = file.slotOf('key', rate) - 2
    file.words[at + 1] = 0
    expect(open().slotOf('key', rate)).toBe(at + 2)
  })

  it('starts over with the machine, and removes the old file', () => {
    const before = open('first-boot')
    before.words[before.slotOf('key', rate)] = 99
    const after = open('second-boot')
    expect(after.words[after.slotOf('key', rate)]).toBe(0)
    // And what somebody was making when he died.
    writeFileSync(join(state, 'rates', 'third-boot.map.77.draft'), 'half')
    expect(open('third-boot').counts().used).toBe(0)
    expect(readdirSync(join(state, 'rates'))).toEqual(['third-boot.map'])
  })

  it('is made apart from what another process makes, though both have one number', () => {
    // As where containers share a state folder: the other one has just linked its draft into place.
    const draft = join(state, 'rates', `first-boot.map.${process.pid}.draft`)
    const linked = join(state, 'linked')
    mkdirSync(join(state, 'rates'))
    writeFileSync(draft, 'of the other')
    linkSync(draft, linked)
    expect(open().counts().used).toBe(0)
    expect(readFileSync(linked, 'utf8')).toBe('of the other')
  })

  it('has all its blocks, so that no write to the map can meet a full disk', () => {
    const { path } = open()
    const { blocks, size: bytes, mode } = statSync(path)
    expect(blocks * 512).toBeGreaterThanOrEqual(bytes)
    expect(mode & 0o777).toBe(0o600)
  })

  it.each([
    ['cut short', (path: string) => truncateSync(path, 4096), 'it has 4096 bytes, not 5120'],
    ['empty', (path: string) => truncateSync(path, 0), 'it is empty'],
    [
      'of something else',
      (path: string) => writeFileSync(path, Buffer.alloc(5120, 7)),
      'it is not a rate file',
    ],
    [
      'of another size within',
      (path: string) => {
        const bytes = readFileSync(path)
        bytes.writeInt32LE(1 << 20, 8)
        writeFileSync(path, bytes)
      },
      'it is damaged',
    ],
  ])('refuses a file that is %s, and says what to do', (_name, harm, why) => {
    const { path, close } = open()
    close()
    files = []
    harm(path)
    expect(open).toThrow(why)
    expect(open).toThrow(/cannot be kept in .*first-boot\.map.*remove that file and start again/)
  })
})

import { existsSync, readFileSync } from 'node:fs'
import koffi from 'koffi'
import { describe, expect, it } from 'vitest'
import { inLargePages } from '../../../src/base/system/memory-map.ts'

const isKnown = existsSync('/sys/kernel/mm/transparent_hugepage')

/** Whether the system was asked for large pages at that address (`hg` in /proc/self/smaps). */
function isAsked(address: bigint): boolean {
  const maps = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  const map = maps.find((text) => {
    const [, first, end] = /^([0-9a-f]+)-([0-9a-f]+) /.exec(text)!
    return BigInt(`0x${first}`) <= address && address < BigInt(`0x${end}`)
  })
  return / hg( |$)/m.test(map!)
}

describe('inLargePages', () => {
  it.runIf(isKnown)('asks for them for all of a large array, from its first whole page on', () => {
    for (const make of [
      () => new Uint32Array(2 ** 24),
      () => new Float64Array(2 ** 23 + 1),
      () => Buffer.allocUnsafeSlow(2 ** 26 - 3),
    ]) {
      const array = inLargePages(make())
      const begin = koffi.address(array)
      for (const offset of [4096, array.byteLength / 2, array.byteLength - 8192]) {
        expect(isAsked(begin + BigInt(Math.floor(offset)))).toBe(true)
      }
      array.fill(7)
      expect(array.every((element) => element === 7)).toBe(true)
    }
  })

  it.each([0, 1, 4096, 2 ** 22 - 1, 2 ** 23])('is an array of %i bytes as it was', (bytes) => {
    const array = new Uint8Array(bytes).fill(7)
    expect(inLargePages(array)).toBe(array)
    expect(array.every((element) => element === 7)).toBe(true)
  })
})

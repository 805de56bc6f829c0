// What a layer says of one address, by binary search; and the invariants of a layer, said slowly.

import ipaddr from 'ipaddr.js'
import { expect } from 'vitest'
import type { Layer } from '../../../build/layer/layer.ts'

/** The value of the piece that holds the address. */
export function lookup(layer: Layer, address: string): number {
  const value = valueOf(address)
  let low = 0
  let high = layer.count
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (startOf(layer, middle) <= value) low = middle
    else high = middle
  }
  return layer.values[low]!
}

/** The first address of piece `index`. */
export function startOf(layer: Layer, index: number): bigint {
  if (layer.family === 4) return BigInt(layer.starts[index]!)
  const words = layer.starts.subarray(index * 4, index * 4 + 4)
  return words.reduce((value, word) => (value << 32n) | BigInt(word), 0n)
}

/** An address as text from its value. */
export function addressOf(family: 4 | 6, value: bigint): string {
  const hex = value.toString(16).padStart(family === 4 ? 8 : 32, '0')
  return ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toString()
}

/** The number of an address written as text. */
export function valueOf(address: string): bigint {
  return BigInt(`0x${Buffer.from(ipaddr.parse(address).toByteArray()).toString('hex')}`)
}

/** For small layers: every invariant that build/layer/layer.ts states. */
export function expectSound(layer: Layer): void {
  expect(layer.values.length).toBe(layer.count)
  expect(layer.starts.length).toBe(layer.count * (layer.family === 4 ? 1 : 4))
  expect(startOf(layer, 0)).toBe(0n)
  for (let i = 1; i < layer.count; i++) {
    expect(startOf(layer, i)).toBeGreaterThan(startOf(layer, i - 1))
    expect(layer.values[i]).not.toBe(layer.values[i - 1])
  }
}

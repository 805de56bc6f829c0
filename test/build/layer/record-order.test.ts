// Records without evidence keep their numbers, whatever is listed; those of many addresses come
// first; and each piece keeps its record.

import { expect, it } from 'vitest'
import { parseAddress } from '../../../src/ip/parse-address.ts'
import { type Layer, newLayerPieces } from '../../../build/layer/layer.ts'
import { orderRecords } from '../../../build/layer/size-order.ts'

type Pieces = readonly (readonly [start: string, record: number])[]

function layerOf(family: 4 | 6, of: Pieces): Layer {
  const pieces = newLayerPieces(family)
  const words = new Uint32Array(4)
  for (const [start, record] of of) {
    expect(parseAddress(start, words)).toBe(family)
    pieces.add(words, record)
  }
  return pieces.layer()
}

/** Records with these lists, each of a network of its own, which tells it from the others. */
const recordsOf = (...lists: readonly number[]): Uint32Array =>
  Uint32Array.from(lists.flatMap((list, record) => [record, 1, 0, list]))

/** The records, by network, in their order; each piece must still have its own. */
function orderOf(records: Uint32Array, layers: readonly Layer[]): readonly number[] {
  const before = layers.map(({ values }) => [...values])
  const ordered = orderRecords(records, layers)
  const order = Array.from({ length: ordered.length / 4 }, (_, record) => ordered[record * 4]!)
  expect(layers.map(({ values }) => [...values].map((value) => order[value]))).toEqual(before)
  for (const [number, record] of order.entries()) {
    const words = records.slice(record * 4, record * 4 + 4)
    expect(ordered.slice(number * 4, number * 4 + 4)).toEqual(words)
  }
  return order
}

it('records without evidence come first, both kinds in the order in which they appeared', () => {
  const layer = layerOf(4, [
    ['0.0.0.0', 0],
    ['16.0.0.0', 1],
    ['32.0.0.0', 2],
    ['48.0.0.0', 3],
    ['64.0.0.0', 2],
    ['80.0.0.0', 4],
    ['96.0.0.0', 1],
    ['112.0.0.0', 3],
    ['128.0.0.0', 4],
  ])
  expect(orderOf(recordsOf(0, 7, 0, 8, 0), [layer])).toEqual([0, 2, 4, 1, 3])
})

it('of both kinds those of many addresses come first, all of their pieces together', () => {
  const layer = layerOf(4, [
    ['0.0.0.0', 0],
    // A /24, a /20, and a /20 in two pieces, among /8s.
    ['10.0.0.0', 1],
    ['10.0.1.0', 2],
    ['10.0.17.0', 3],
    ['10.0.25.0', 0],
    ['11.0.0.0', 3],
    ['11.0.8.0', 4],
    ['12.0.0.0', 5],
    ['12.0.0.1', 4],
  ])
  expect(orderOf(recordsOf(0, 0, 0, 0, 9, 9), [layer])).toEqual([0, 2, 3, 1, 4, 5])
})

it('a /48 of IPv6 counts as an address', () => {
  const four = layerOf(4, [
    ['0.0.0.0', 0],
    ['1.0.0.0', 1],
    ['1.0.4.0', 0],
  ])
  const six = layerOf(6, [
    ['::', 0],
    ['2001:db8::', 2],
    ['2001:db9::', 3],
    ['2001:db9:0:1::', 0],
    ['fff0::', 4],
  ])
  expect(orderOf(recordsOf(0, 0, 0, 0, 0), [four, six])).toEqual([0, 4, 2, 1, 3])
})

it('a listing more in a prefix moves no record', () => {
  const whole: Pieces = [
    ['0.0.0.0', 0],
    ['20.0.0.0', 1],
    ['20.0.16.0', 2],
    ['20.1.0.0', 3],
    ['20.2.0.0', 0],
  ]
  const cut: Pieces = [...whole.slice(0, 2), ['20.0.1.7', 4], ['20.0.1.8', 1], ...whole.slice(2)]
  const lists = [0, 0, 0, 0, 6]
  const without = orderOf(recordsOf(...lists.slice(0, 4)), [layerOf(4, whole)])
  expect(orderOf(recordsOf(...lists), [layerOf(4, cut)])).toEqual([...without, 4])
})

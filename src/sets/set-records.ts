// The prefixes of a published set as words, in memory and in its file: five a prefix, the address in
// MMDB's space (IPv4 below ::/96, which no set has as IPv6) and its length with its label. And the
// difference of two sets.

import { IpriskError } from '../base/coded-error.ts'
import { formatCount } from '../base/text/number-format.ts'
import { compareWords } from '../ip/address.ts'

export const setRecordWords = 5

/** Their numbers have 16 bits. */
export const labelsMax = 65_536

export function newSetRecords(prefixesMax: number) {
  let words = new Uint32Array(setRecordWords << 10)
  let used = 0
  return {
    /** In ascending order. Throws `set_too_large`. */
    add: (address: Uint32Array, length: number, label: number): void => {
      if (used === prefixesMax * setRecordWords) {
        const message = `The set has more than ${formatCount(prefixesMax)} prefixes; narrow its condition.`
        throw new IpriskError({ code: 'set_too_large', message, fault: 'input' })
      }
      if (label >= labelsMax) {
        const message = `The set has more than ${formatCount(labelsMax)} actions and rules.`
        throw new IpriskError({ code: 'set_too_large', message, fault: 'input' })
      }
      if (used === words.length) {
        const more = new Uint32Array(words.length * 2)
        more.set(words)
        words = more
      }
      words.set(address, used)
      words[used + 4] = (length << 16) | label
      used += setRecordWords
    },
    words: (): Uint32Array => words.subarray(0, used),
  }
}

/** The places in `after` of what `before` lacks, in order; numbers of labels mean the same. */
export function forEachAdded(
  before: Uint32Array,
  after: Uint32Array,
  added: (at: number) => void,
): void {
  let old = 0
  for (let at = 0; at < after.length; at += setRecordWords) {
    let order = -1
    while (old < before.length) {
      order = compareWords(before, old, after, at, setRecordWords)
      if (order >= 0) break
      old += setRecordWords
    }
    if (order !== 0 || old === before.length) added(at)
  }
}

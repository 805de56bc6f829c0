// The prefixes of a published set as words, in memory and in its file: five a prefix, the address in
// MMDB's space (IPv4 below ::/96, which no set has as IPv6) and its length with its label. And the
// difference of two sets.

import { IpriskError } from '../base/coded-error.ts'
import { formatCount } from '../base/text/number-format.ts'
import { type Family, compareWords } from '../ip/address.ts'

export const setRecordWords = 5

/** Their numbers have 16 bits. */
export const labelsMax = 65_536

export const familyOf = (records: Uint32Array, at: number): Family =>
  (records[at]! | records[at + 1]! | records[at + 2]!) === 0 ? 4 : 6

/** Where the records of IPv4, which come first, end. */
export function ipv4End(records: Uint32Array): number {
  let end = 0
  while (end < records.length && familyOf(records, end) === 4) end += setRecordWords
  return end
}

export class SetTooLarge extends IpriskError {
  /** How many the set has. */
  readonly prefixes: number

  constructor(prefixes: number, max: number) {
    const message = `The set has ${formatCount(prefixes)} prefixes, more than ${formatCount(max)}; narrow its condition.`
    super({ code: 'set_too_large', message, fault: 'input' })
    this.prefixes = prefixes
  }
}

export function newSetRecords(prefixesMax: number) {
  let words = new Uint32Array(setRecordWords << 10)
  let used = 0
  let more = 0
  return {
    /** In ascending order. Throws `set_too_large`. */
    add: (address: Uint32Array, length: number, label: number): void => {
      if (used === prefixesMax * setRecordWords) {
        more++
        return
      }
      if (label >= labelsMax) {
        const message = `The set has more than ${formatCount(labelsMax)} actions and rules.`
        throw new IpriskError({ code: 'set_too_large', message, fault: 'input' })
      }
      if (used === words.length) {
        const larger = new Uint32Array(words.length * 2)
        larger.set(words)
        words = larger
      }
      words.set(address, used)
      words[used + 4] = (length << 16) | label
      used += setRecordWords
    },
    /** Throws `set_too_large`: no set is truncated. */
    words: (): Uint32Array => {
      if (more > 0) throw new SetTooLarge(prefixesMax + more, prefixesMax)
      return words.subarray(0, used)
    },
  }
}

/** The places in `after` of what `before` lacks, in order; label numbers mean the same in both. */
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

// Pages of 2 MB for large arrays: a build fills gigabytes of them once, and each page that it
// touches first is a trip to the system.
//
// Linux takes large pages where a process asks for them (`madvise` in
// /sys/kernel/mm/transparent_hugepage/enabled) or always. Where it does not, asking changes
// nothing; where the memory has been filled already, nothing at once.

import koffi from 'koffi'
import { MADV_HUGEPAGE, madvise } from './madvise.ts'

export const pageBytes = 4096
/** Smaller arrays have hardly a whole large page in them. */
const largeBytesMin = 2 ** 22

/** `array`, just made, its memory in large pages as it is filled, where the system has some. */
export function inLargePages<T extends ArrayBufferView>(array: T): T {
  if (process.platform !== 'linux' || array.byteLength < largeBytesMin) return array
  const before = (pageBytes - offsetInPage(array)) % pageBytes
  const whole = array.byteLength - before
  // Advice only: what the system makes of it changes no byte.
  madvise(koffi.address(array) + BigInt(before), whole - (whole % pageBytes), MADV_HUGEPAGE)
  return array
}

/** How many bytes behind a page's beginning `array` begins. */
export function offsetInPage(array: ArrayBufferView): number {
  return Number(koffi.address(array) % BigInt(pageBytes))
}

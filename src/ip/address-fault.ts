// What is wrong with a text that parse-address.ts rejects: a prefix, a port, a host name and so on.
// Every such text has exactly one fault. The messages are in src/api/input-fault.ts.

import { newAddressWords } from './address.ts'
import { parseAddress } from './parse-address.ts'

export const addressFaults = [
  'empty',
  'several',
  'white_space',
  'host_name',
  'prefix',
  'zone',
  'port',
  'leading_zeros',
  'ipv4',
  'ipv6',
  'other',
] as const
export type AddressFault = (typeof addressFaults)[number]

/** Host names have at most 253 characters, and addresses fewer. */
const textCharsMax = 256

const words = newAddressWords()
export const isAddress = (text: string): boolean => parseAddress(text, words) !== 0

const separators = /[\s,;]+/
const url = /^[a-z][a-z0-9+.-]*:\/\//i
/** As `inet_aton` accepts it: fewer than four numbers, octal, hexadecimal. */
const numbers = /^(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d*))*$/i
const hexGroups = /^[0-9a-f]*:[0-9a-f:.]*$/i
/** Labels of letters of any alphabet, with or without a port. */
const hostName = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.?(?::\d*)?$/u
/** Zeros before another digit, at the beginning of a number or group. */
const leadingZeros = /(^|[.:])0+(?=[0-9a-f])/gi

/** The fault of a text that `parseAddress` rejects. */
export function addressFaultOf(text: string): AddressFault {
  if (text.trim() === '') return 'empty'
  if (text.length > textCharsMax) return 'other'
  const parts = text.split(separators).filter(Boolean)
  if (parts.length > 1 && parts.every(isAddress)) return 'several'
  if (/\s/.test(text)) return 'white_space'
  if (url.test(text)) return 'host_name'
  if (isAddress(before(text, '/'))) return 'prefix'
  if (isAddress(before(text, '%'))) return 'zone'
  if (/[[\]]/.test(text) || isAddress(before(text, ':'))) return 'port'
  if (isAddress(text.replaceAll(leadingZeros, '$1'))) return 'leading_zeros'
  if (numbers.test(text)) return 'ipv4'
  if (hexGroups.test(text)) return 'ipv6'
  return hostName.test(text) ? 'host_name' : 'other'
}

/** The text before the first `character`; '' without it. */
const before = (text: string, character: string): string =>
  text.slice(0, Math.max(0, text.indexOf(character)))

// Writes addresses into the log in the form that the operator wants: whole, shortened to their
// network, or as a keyed hash. By the hash, lines of one address can be told to belong together,
// but only the holder of the key can tell which address it is. Not here: whether addresses are
// logged (log.ts).
//
// The key keeps hashes from being looked up in a list of all 2^32 of them.

import { createHmac } from 'node:crypto'
import { type IpriskError, environmentError, messageOf } from '../base/coded-error.ts'
import { readBoundedFile, secretFile } from '../base/system/bounded-file.ts'
import type { ServeSettings } from '../config/settings.ts'
import { newAddressWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { formatAddress } from '../ip/format-address.ts'

/** As for any secret that can be guessed: 128 bits. */
const keyBytesMin = 16

/** 96 bits of the hash, as base64url: enough to tell all addresses of a log apart. */
const hashChars = 16

export interface LogAddressSettings extends Pick<ServeSettings, 'logAddresses' | 'logAddressForm'> {
  readonly logAddressKeyFile?: string | undefined
}

/** What log.ts does with addresses. Throws `log_key_unusable`. */
export function logAddressFormatter(
  settings: LogAddressSettings,
): boolean | ((address: string) => string) {
  const { logAddresses, logAddressForm, logAddressKeyFile } = settings
  if (!logAddresses) return false
  if (logAddressForm === 'short') return shortened
  if (logAddressForm === 'full' || logAddressKeyFile === undefined) return true
  const key = readHashKey(logAddressKeyFile)
  return (address) => keyed(address, key)
}

const words = newAddressWords()

/** `198.51.100.0/24`, `2001:db8:1::/48`; a text that is no address is not shown. */
function shortened(address: string): string {
  const family = parseAddress(address, words)
  if (family === 0) return '[no address]'
  if (family === 4) {
    words[0]! &= 0xffff_ff00
    return `${formatAddress(family, words)}/24`
  }
  words[1]! &= 0xffff_0000
  words.fill(0, 2)
  return `${formatAddress(family, words)}/48`
}

function keyed(address: string, key: Buffer): string {
  const family = parseAddress(address, words)
  const text = family === 0 ? address : formatAddress(family, words)
  const hash = createHmac('sha256', key).update(text).digest('base64url')
  return `hmac:${hash.slice(0, hashChars)}`
}

function readHashKey(path: string): Buffer {
  let key: Buffer
  try {
    key = readBoundedFile(path, secretFile).bytes
  } catch (cause) {
    throw unusable(path, messageOf(cause), cause)
  }
  if (key.length >= keyBytesMin) return key
  throw unusable(path, `it has ${key.length} bytes, and must have ${keyBytesMin} at least`)
}

function unusable(path: string, why: string, cause?: unknown): IpriskError {
  const message = `The key of logged addresses, ${path}, cannot be used: ${why}. `
  const advice = '"openssl rand -hex 32" makes one.'
  return environmentError('log_key_unusable', message + advice, { cause })
}

// Formats addresses for the log: whole, shortened to their network, or as a keyed hash, which
// groups lines by address for everyone but reveals it only to the key's holder. Without the key,
// hashes could be looked up in a list of 2^32.

import { createHmac } from 'node:crypto'
import { type IpriskError, environmentError, messageOf } from '../base/coded-error.ts'
import { readBoundedFile, secretFile } from '../base/system/bounded-file.ts'
import type { ServeSettings } from '../config/settings.ts'
import { newAddressWords } from '../ip/address.ts'
import { parseAddress } from '../ip/parse-address.ts'
import { formatAddress } from '../ip/format-address.ts'

const keyBytesMin = 16

/** 96 bits of the hash, as base64url: enough to tell a log's addresses apart. */
const hashChars = 16

export interface LogAddressSettings extends Pick<ServeSettings, 'logAddresses' | 'logAddressForm'> {
  readonly logAddressKeyFile?: string | undefined
}

/** For log.ts. Throws `log_key_unusable`. */
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

/** `198.51.100.0/24`, `2001:db8:1::/48`; other texts are hidden. */
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
  const advice = 'Generate one with "openssl rand -hex 32".'
  return environmentError('log_key_unusable', message + advice, { cause })
}

// Which proxies an application trusts, and in which header: read once from its options, then used
// for each request.

import { optionError } from '../option-error.ts'
import { addressGroups, holdsGroups, unmapped } from './address-text.ts'
import { proxyPresets } from './proxy-presets.ts'

/**
 * How many proxies are in front of the application, or from which addresses they connect: presets,
 * addresses and prefixes.
 */
export type Trust = number | TrustedRange | readonly TrustedRange[]
export type TrustedRange = keyof typeof proxyPresets | (string & Record<never, never>)

/** The header in which the proxies name the client. */
export const addressHeaders = [
  'x-forwarded-for',
  'forwarded',
  'cf-connecting-ip',
  'true-client-ip',
  'x-real-ip',
  'fly-client-ip',
  'x-azure-clientip',
] as const
export type AddressHeader = (typeof addressHeaders)[number]

/** Whether a host is a trusted proxy: the peer is hop 0, the host it names hop 1, and so on. */
export type IsTrusted = (address: string | undefined, hop: number) => boolean

/** Throws a TypeError for everything else. */
export function readTrust(trust: Trust): IsTrusted {
  if (typeof trust === 'number') {
    if (!Number.isInteger(trust) || trust < 0) throw wrong(trust)
    return (_address, hop) => hop < trust
  }
  const texts = typeof trust === 'string' ? [trust] : trust
  // For callers without types: other libraries accept `true`.
  if (!Array.isArray(texts)) throw wrong(trust)
  const prefixes = texts.flatMap((text) =>
    Object.hasOwn(proxyPresets, text)
      ? proxyPresets[text as keyof typeof proxyPresets].map(readPrefix)
      : [readPrefix(text)],
  )
  return (text) => {
    const groups = addressGroups(text)
    return groups !== undefined && prefixes.some((prefix) => holdsGroups(prefix, groups))
  }
}

function readPrefix(text: string) {
  if (typeof text !== 'string') throw wrong(text)
  const [, base, lengthText] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const groups = addressGroups(base)
  if (groups === undefined) throw wrong(text)
  const bits = groups.length * 16
  const length = Number(lengthText ?? bits)
  if (length > bits) throw wrong(text)
  // A host is known by its IPv4 address if it has one.
  const isMapped = unmapped(groups) !== undefined && length >= 96
  return isMapped ? { groups: groups.slice(6), length: length - 96 } : { groups, length }
}

function wrong(given: unknown): TypeError {
  const presets = Object.keys(proxyPresets).join(', ')
  const isNamed = given === null || ['number', 'boolean'].includes(typeof given)
  const other = isNamed ? String(given) : `a value of type ${typeof given}`
  return optionError(
    `${typeof given === 'string' ? JSON.stringify(given) : other} in \`trust\`: give the number ` +
      `of proxies (\`1\`), or addresses, prefixes and presets (${presets}).`,
  )
}

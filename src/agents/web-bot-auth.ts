// Web Bot Auth, the reading half: from the headers of a signed request to the bytes that its
// signature covers. Pure: no clock, no keys, no network (signature-verifier.ts has them).
//
// Read: the working group's copy of draft-ietf-webbotauth-httpsig-protocol as of 2026-10-09, between
// -00 (2026-09-01) and -01 (2026-10-29), with the change log of -01; RFC 9421 for the signature
// base; RFC 9651 for the headers. Where deployments differ from the draft:
//
//   Signature-Agent   a dictionary, or the bare string of older drafts, which ChatGPT sends
//   its value         the well-known URL (-01), or an origin (-00), whose well-known URL is meant;
//                     any other path names nobody: TLS proves the host, not who writes a path
//   its parameters    -01 forbids them, -00 had `type`: only `type=directory` is accepted
//
// Invariants: what is returned covers the authority and the Signature-Agent member that names the
// directory; no text with a control character gets into a base; nothing is thrown.

import {
  type BareItem,
  type Dictionary,
  type InnerList,
  type Item,
  Token,
  isInnerList,
  parseDictionary,
  parseItem,
  serializeInnerList,
  serializeItem,
} from 'structured-headers'
import type { SignedRequest } from '../api/agent-context.ts'

const tag = 'web-bot-auth'
const directoryPath = '/.well-known/http-message-signatures-directory'

/** Each costs a verification; a second one is a proxy's or a remote browser's. */
const signaturesMax = 2

/** The draft's recommendation; a longer life makes the signature a password. */
const lifeSecondsMax = 86_400

/** The draft's longest example has seven; parsing the longest texts takes 2 ms. */
const componentsMax = 20
export const requestCharsMax = 8192

/** How far clocks may differ. */
const aheadSecondsMax = 60

export interface ClaimedSignature {
  /** The URL of the directory that should hold the key. */
  readonly directory: string
  readonly keyid: string
  readonly base: string
  readonly signature: Uint8Array
}

/** What `authority` is compared by: lower case, without the scheme's own port. */
export function normalAuthority(scheme: string, authority: string): string {
  const port = scheme.toLowerCase() === 'http' ? ':80' : ':443'
  const lower = authority.toLowerCase()
  return lower.endsWith(port) ? lower.slice(0, -port.length) : lower
}

export function directoryUrl(host: string): string {
  return `https://${host}${directoryPath}`
}

/**
 * The signatures that may count at that time, without those that cannot (another tag, expired, not
 * over the authority). `undefined` where the headers are no structured fields.
 */
export function claimedSignatures(
  request: SignedRequest,
  nowSeconds: number,
): readonly ClaimedSignature[] | undefined {
  const { headers, ...line } = request
  try {
    const text = Object.values({ ...line, ...headers }).join('')
    if (text.length > requestCharsMax || !/^[\x20-\x7e]*$/.test(text)) return undefined
    const inputs = parseDictionary(headers['signature-input'])
    const signatures = parseDictionary(headers.signature)
    const agents = readSignatureAgent(headers['signature-agent'])
    return [...inputs]
      .filter(([, input]) => isOurs(input))
      .slice(0, signaturesMax)
      .flatMap(([label, input]) => {
        const signature = bytesOf(signatures.get(label), headers.signature)
        const read = { request, agents, label, nowSeconds }
        const claim = signature && claimOf(input as InnerList, read)
        return claim ? [{ ...claim, signature }] : []
      })
  } catch {
    return undefined
  }
}

const isOurs = (input: Item | InnerList): boolean =>
  isInnerList(input) && input[1].get('tag') === tag

type SignatureAgent =
  | { readonly kind: 'string'; readonly value: Item }
  | { readonly kind: 'dictionary'; readonly members: Dictionary }

function readSignatureAgent(raw: string): SignatureAgent {
  return raw.trimStart().startsWith('"')
    ? { kind: 'string', value: parseItem(raw) }
    : { kind: 'dictionary', members: parseDictionary(raw) }
}

/** Of the one spelling: base64 that decodes alike is another text, which nobody has signed. */
function bytesOf(member: Item | InnerList | undefined, raw: string): Uint8Array | undefined {
  const value = member?.[0]
  if (!(value instanceof ArrayBuffer) || value.byteLength !== 64) return undefined
  const bytes = Buffer.from(value)
  return raw.includes(`:${bytes.toString('base64')}:`) ? bytes : undefined
}

interface Reading {
  readonly request: SignedRequest
  readonly agents: SignatureAgent
  readonly label: string
  readonly nowSeconds: number
}

function claimOf(
  input: InnerList,
  reading: Reading,
): Omit<ClaimedSignature, 'signature'> | undefined {
  const [components, parameters] = input
  const keyid = parameters.get('keyid')
  if (typeof keyid !== 'string' || !isCurrent(parameters, reading.nowSeconds)) return undefined
  const alg = parameters.get('alg')
  if (alg !== undefined && alg !== 'ed25519') return undefined
  if (components.length > componentsMax) return undefined
  const names = components.map((component) => serializeItem(component))
  if (new Set(names).size !== names.length) return undefined
  if (!names.includes('"@authority"') && !names.includes('"@target-uri"')) return undefined
  const directory = directoryOf(components, reading)
  const values = components.map((component) => componentValue(component, reading))
  if (directory === undefined || values.includes(undefined)) return undefined
  const lines = names.map((name, i) => `${name}: ${values[i]}`)
  const base = [...lines, `"@signature-params": ${serializeInnerList(input)}`].join('\n')
  return { directory, keyid, base }
}

/** `nonce` is accepted and not remembered: until `expires` a request can be replayed here. */
function isCurrent(parameters: ReadonlyMap<string, BareItem>, nowSeconds: number): boolean {
  const [created, expires] = [parameters.get('created'), parameters.get('expires')]
  if (!Number.isInteger(created) || !Number.isInteger(expires)) return false
  const [from, to] = [created as number, expires as number]
  const isNonceText = ['undefined', 'string'].includes(typeof parameters.get('nonce'))
  const isLife = to > from && to - from <= lifeSecondsMax
  return isNonceText && isLife && from <= nowSeconds + aheadSecondsMax && nowSeconds < to
}

/** The directory that the covered member of Signature-Agent names. */
function directoryOf(components: readonly Item[], reading: Reading): string | undefined {
  const { agents, label } = reading
  const covered = components.filter(([name]) => name === 'signature-agent')
  const keys = covered.flatMap(([, parameters]) => parameters.get('key') ?? [])
  if (agents.kind === 'string') return covered.length === 0 ? undefined : urlOf(agents.value)
  // A signer may cover another's member as well as its own, whose key is then its label.
  const key = keys.length === 1 ? keys[0] : keys.find((each) => each === label)
  const member = typeof key === 'string' ? agents.members.get(key) : undefined
  return member === undefined || isInnerList(member) ? undefined : urlOf(member)
}

function urlOf([value, parameters]: Item): string | undefined {
  const type = parameters.get('type')
  const isDirectory = type instanceof Token && type.toString() === 'directory'
  if (parameters.size > (isDirectory ? 1 : 0)) return undefined
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined
  const { protocol, username, password, host, pathname, search, hash } = new URL(value)
  const isNamed = pathname === '/' || pathname === directoryPath
  const isBare = [username, password, search, hash].every((part) => part === '')
  return protocol === 'https:' && isNamed && isBare ? directoryUrl(host) : undefined
}

/** RFC 9421, 2.1 and 2.2, for what a check carries; `undefined` for anything else. */
function componentValue([name, parameters]: Item, reading: Reading): string | undefined {
  const { request, agents } = reading
  const { method, scheme, authority, path } = request
  if (name === 'signature-agent' && agents.kind === 'dictionary') {
    const member = agents.members.get(parameters.size === 1 ? String(parameters.get('key')) : '')
    return member && !isInnerList(member) ? serializeItem(member) : undefined
  }
  if (parameters.size > 0) return undefined
  const target = path === '' ? '/' : path
  const query = target.indexOf('?')
  const own = normalAuthority(scheme, authority)
  switch (name) {
    case '@method':
      return method
    case '@scheme':
      return scheme.toLowerCase()
    case '@authority':
      return own
    case '@target-uri':
      return `${scheme.toLowerCase()}://${own}${target}`
    case '@request-target':
      return target
    case '@path':
      return query < 0 ? target : target.slice(0, query) || '/'
    case '@query':
      return query < 0 ? '?' : target.slice(query)
    case 'signature-agent':
      return request.headers['signature-agent'].trim()
    default:
      return undefined
  }
}

// Web Bot Auth, the reading half: from the headers of a signed request to the bytes that its
// signature covers. No clock, keys or network (signature-verifier.ts); nothing is thrown.
//
// Read: the working group's copy of draft-ietf-webbotauth-httpsig-protocol of 2026-10-09, between
// -00 (2026-09-01) and -01 (2026-10-29), with the change log of -01; RFC 9421 for the base.
// Signature-Agent may be the dictionary, or the bare string of older drafts, which ChatGPT sends.
// Its value is the well-known URL (-01) or an origin (-00, perhaps with `type=directory`). Any
// other path is rejected: TLS authenticates the host, not the author of a path.

import * as fields from 'structured-headers'
import type { SignedRequest } from '../api/agent-context.ts'

const directoryPath = '/.well-known/http-message-signatures-directory'
/** Scheme and path. Other ones could make a signed URL of ours: `shop.example` + `.evil.example/`. */
const lineForm = /^https? (?:[/*]|$)/i
/** A member of Signature-Agent: neither http nor a user, a query or another path. */
const memberForm =
  /^"https:\/\/([a-z0-9.:[\]-]+)\/?(?:(?<=\/)\.well-known\/http-message-signatures-directory)?"(?:;type=directory)?$/

/** Each costs a verification; a second one is a proxy's or a remote browser's. */
const signaturesMax = 2
/** The draft's longest example has seven. */
const componentsMax = 20
/** The draft's recommendation; a longer life makes the signature a password. */
const lifeSecondsMax = 86_400
/** How far clocks may differ. */
const aheadSecondsMax = 60

export interface ClaimedSignature {
  /** The URL of the directory that should hold the key. */
  readonly directory: string
  readonly keyid: string
  readonly base: string
  /** Base64. */
  readonly signature: string
}

/** In lower case and without the scheme's own port, as authorities are compared. */
export function normalAuthority(scheme: string, authority: string): string {
  return authority.toLowerCase().replace(scheme.toLowerCase() === 'http' ? /:80$/ : /:443$/, '')
}

export function directoryUrl(host: string): string {
  return `https://${host}${directoryPath}`
}

/**
 * The signatures that may count at that time, without those that cannot (another tag, expired, not
 * over the authority). `undefined` where the headers are not structured fields.
 */
export function claimedSignatures(
  request: SignedRequest,
  nowSeconds: number,
): readonly ClaimedSignature[] | undefined {
  const { headers, ...line } = request
  const text = Object.values({ ...line, ...headers }).join('')
  if (!/^[\x20-\x7e]*$/.test(text)) return undefined
  if (!lineForm.test(`${line.scheme} ${line.path}`)) return []
  try {
    const signatures = fields.parseDictionary(headers.signature)
    const agentOf = readSignatureAgent(headers['signature-agent'])
    return [...fields.parseDictionary(headers['signature-input'])]
      .filter(([, input]) => fields.isInnerList(input) && input[1].get('tag') === 'web-bot-auth')
      .slice(0, signaturesMax)
      .flatMap(([label, input]) => {
        const bytes = signatures.get(label)?.[0]
        const signature = bytes instanceof ArrayBuffer ? Buffer.from(bytes).toString('base64') : '-'
        // Other base64 with the same bytes is another text, which was not signed.
        if (!headers.signature.includes(`:${signature}:`)) return []
        const [components, parameters] = input as fields.InnerList
        if (!isCurrent(parameters, nowSeconds) || components.length > componentsMax) return []
        const host = hostOf(components, agentOf, label)
        const base = baseOf(input as fields.InnerList, request, agentOf)
        const keyid = parameters.get('keyid') as string
        if (host === undefined || base === undefined) return []
        return [{ directory: directoryUrl(host), keyid, base, signature }]
      })
  } catch {
    return undefined
  }
}

type AgentOf = (key: unknown) => fields.Item | undefined

/** The member under that key; without a key, the bare string. */
function readSignatureAgent(raw: string): AgentOf {
  if (raw.trimStart().startsWith('"')) {
    const whole = fields.parseItem(raw)
    return (key) => (key === undefined ? whole : undefined)
  }
  const members = fields.parseDictionary(raw)
  return (key) => {
    const member = typeof key === 'string' ? members.get(key) : undefined
    return member && !fields.isInnerList(member) ? member : undefined
  }
}

/** `nonce` is accepted and not remembered: until `expires` a request can be replayed here. */
function isCurrent(parameters: fields.Parameters, nowSeconds: number): boolean {
  const { keyid, created, expires, nonce = '', alg = 'ed25519' } = Object.fromEntries(parameters)
  if (!Number.isInteger(created) || !Number.isInteger(expires)) return false
  const [from, to] = [created as number, expires as number]
  const isLife = to > from && to - from <= lifeSecondsMax
  const isOurs = [keyid, nonce].every((one) => typeof one === 'string') && alg === 'ed25519'
  return isOurs && isLife && from <= nowSeconds + aheadSecondsMax && nowSeconds < to
}

/** The covered member of Signature-Agent: the only one, or that under the signature's label. */
function hostOf(components: readonly fields.Item[], agentOf: AgentOf, label: string) {
  const covered = components.filter(([name]) => name === 'signature-agent')
  const keys = covered.map(([, parameters]) => parameters.get('key'))
  const member = agentOf(keys.length === 1 ? keys[0] : keys.find((key) => key === label))
  return memberForm.exec(member && keys.length > 0 ? fields.serializeItem(member) : '')?.[1]
}

/** `undefined` where it lacks the authority, or names what is unknown, or anything twice. */
function baseOf(input: fields.InnerList, request: SignedRequest, agentOf: AgentOf) {
  const [components] = input
  const values = new Map(
    components.map((one) => [fields.serializeItem(one), valueOf(one, request, agentOf)]),
  )
  const isOver = values.has('"@authority"') || values.has('"@target-uri"')
  const isWhole = values.size === components.length && ![...values.values()].includes(undefined)
  if (!isOver || !isWhole) return undefined
  const lines = [...values].map(([name, value]) => `${name}: ${value}\n`)
  return `${lines.join('')}"@signature-params": ${fields.serializeInnerList(input)}`
}

/** RFC 9421, 2.1 and 2.2, for what a check carries; `undefined` for anything else. */
function valueOf(
  [name, parameters]: fields.Item,
  { method, scheme: written, authority, path }: SignedRequest,
  agentOf: AgentOf,
): string | undefined {
  const key = parameters.get('key')
  if (parameters.size > (key === undefined ? 0 : 1)) return undefined
  const member = name === 'signature-agent' ? agentOf(key) : undefined
  if (member !== undefined || key !== undefined) return member && fields.serializeItem(member)
  const [scheme, target] = [written.toLowerCase(), path || '/']
  const own = normalAuthority(scheme, authority)
  const [, before = '', query = ''] = /^([^?]*)(.*)$/.exec(target) ?? []
  const values: Readonly<Record<string, string>> = {
    '@method': method,
    '@scheme': scheme,
    '@authority': own,
    '@target-uri': `${scheme}://${own}${target}`,
    '@request-target': target,
    '@path': before || '/',
    '@query': query || '?',
  }
  return typeof name === 'string' && Object.hasOwn(values, name) ? values[name] : undefined
}

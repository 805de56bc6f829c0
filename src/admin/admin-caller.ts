// Who calls the admin port, and with which role: the token of --admin-token-file is an admin's;
// --admin-tokens-file names more people and programs, a line each: role, name, and the token or
// `sha256:…` (docs/console-access.md).
// Read once, kept as hashes. Every token is compared, in constant time, so that timing reveals
// nothing. Without either file everyone who reaches the port is an admin, so it then listens only
// on loopback or a socket (src/config/setting-rules.ts).

import { hashSecret, sameHash } from '../account/keys/secret-hash.ts'
import { environmentError, type IpriskError, messageOf } from '../base/coded-error.ts'
import { type AdminRole, adminRoles } from '../model/roles.ts'
import { readBoundedFile, secretFile } from '../base/system/bounded-file.ts'

/** In --admin-tokens-file: people and programs of one machine; more have accounts elsewhere. */
const adminTokensMax = 100

export interface AdminCaller {
  readonly role: AdminRole
  readonly name: string
  readonly via: 'admin port' | 'console'
}

export const unnamedAdmin: AdminCaller = { role: 'admin', name: '', via: 'admin port' }

/** As in the audit log: `console as maria`. */
export function viaOf({ via, name }: Pick<AdminCaller, 'via' | 'name'>): string {
  return name === '' ? via : `${via} as ${name}`
}

export type TokenMatcher = (token: string) => AdminCaller | undefined

interface KnownToken {
  readonly hash: Buffer
  readonly caller: AdminCaller
}

/** `undefined` without any token. Throws `admin_token_unusable`. */
export function createTokenMatcher(files: {
  readonly adminTokenFile?: string | undefined
  readonly adminTokensFile?: string | undefined
}): TokenMatcher | undefined {
  const { adminTokenFile: one, adminTokensFile: more } = files
  if (one === undefined && more === undefined) return undefined
  const known = [
    ...(one === undefined ? [] : [{ hash: hashSecret(readAdminToken(one)), caller: unnamedAdmin }]),
    ...(more === undefined ? [] : readAdminTokens(more)),
  ]
  if (more !== undefined && differentTokens(known) < known.length) {
    throw unusable(more, 'a token is also in --admin-token-file')
  }
  return (token) => {
    const hash = hashSecret(token)
    let found: AdminCaller | undefined
    for (const one of known) if (sameHash(hash, one.hash)) found = one.caller
    return found
  }
}

/** `''` if it is not a bearer token. */
export function bearerOf(authorization = ''): string {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}

function readAdminTokens(path: string): readonly KnownToken[] {
  const lines = readTokenFile(path, unusable).split('\n')
  const tokens = lines.flatMap((written, at) => {
    const line = written.trim()
    if (line === '' || line.startsWith('#')) return []
    const parsed = parseLine(line)
    // Never the line itself: it holds a secret.
    if (typeof parsed === 'string') throw unusable(path, `line ${at + 1}: ${parsed}`)
    return [parsed]
  })
  if (tokens.length === 0) throw unusable(path, 'it has no tokens')
  if (tokens.length > adminTokensMax)
    throw unusable(path, `it has more than ${adminTokensMax} tokens`)
  const names = new Set(tokens.map(({ caller }) => caller.name))
  if (names.size < tokens.length) throw unusable(path, 'a name appears twice')
  if (differentTokens(tokens) < tokens.length) throw unusable(path, 'a token appears twice')
  return tokens
}

function differentTokens(tokens: readonly KnownToken[]): number {
  return new Set(tokens.map(({ hash }) => hash.toString('hex'))).size
}

function readTokenFile(path: string, fail: typeof unusable): string {
  try {
    return readBoundedFile(path, secretFile).bytes.toString('latin1')
  } catch (cause) {
    throw fail(path, messageOf(cause), cause)
  }
}

const nameForm = /^[a-z][a-z0-9._@-]{0,63}$/i
const hashForm = /^sha256:([0-9a-f]{64})$/i

/** Or what is wrong with the line. */
function parseLine(line: string): KnownToken | string {
  const [word = '', name = '', secret = '', ...rest] = line.split(/\s+/)
  const role = adminRoles.find((one) => one === word)
  if (role === undefined) return `it must begin with a role, one of ${adminRoles.join(', ')}`
  if (!nameForm.test(name)) return 'after the role, a name of a–z, 0–9, ., _, @ and - must follow'
  const { min, max } = tokenChars
  const isLong = secret.length >= min && secret.length <= max
  if (rest.length > 0 || !isLong || !/^[\x21-\x7e]+$/.test(secret)) {
    return `after the name, a token of ${min} to ${max} characters must follow, or sha256: and its hash`
  }
  if (/^sha256:/i.test(secret) && !hashForm.test(secret)) {
    return 'after sha256:, 64 hexadecimal digits must follow'
  }
  const [, digits] = hashForm.exec(secret) ?? []
  const hash = digits === undefined ? hashSecret(secret) : Buffer.from(digits, 'hex')
  return { hash, caller: { role, name, via: 'admin port' } }
}

function unusable(path: string, why: string, cause?: unknown): IpriskError {
  const message =
    `The admin tokens in ${path} cannot be used: ${why}. Each line has a role, a name and a token; ` +
    'generate tokens with "openssl rand -hex 32".'
  return environmentError('admin_token_unusable', message, { cause })
}

/** Too long to be guessed over a network, too short to be another file. */
const tokenChars = { min: 16, max: 512 } as const

/** Throws `admin_token_unusable`. */
export function readAdminToken(path: string): string {
  const text = readTokenFile(path, unusableToken).trim()
  if (!/^[\x21-\x7e]*$/.test(text))
    throw unusableToken(path, 'a token is a single word of printable ASCII')
  const { min, max } = tokenChars
  if (text.length >= min && text.length <= max) return text
  throw unusableToken(path, `it has ${text.length} characters instead of ${min} to ${max}`)
}

function unusableToken(path: string, why: string, cause?: unknown): IpriskError {
  const message = `The admin token in ${path} cannot be used: ${why}. Generate one with "openssl rand -hex 32".`
  return environmentError('admin_token_unusable', message, { cause })
}

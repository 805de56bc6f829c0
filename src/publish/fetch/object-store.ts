// A client of S3-compatible stores, with Signature Version 4 by aws4fetch and the settings of the
// AWS tools: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, or the profile
// (AWS_PROFILE) of the shared credentials file; AWS_REGION, AWS_DEFAULT_REGION or the profile's;
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for other stores, with path-style addresses. Requests
// without credentials are unsigned, for public buckets. Cloud metadata services are not used.

import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { withJitter } from '../../base/backoff.ts'
import { readBoundedFile, secretFile } from '../../base/system/bounded-file.ts'
import { parseObjectUrl } from '../../config/values/publish-values.ts'
import {
  type BoundedAnswer,
  type BoundedRequest,
  boundedRequest,
  shownUrl,
} from './bounded-request.ts'
import { pullError, pullRefusalOf } from './pull-refusal.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

type ObjectRequest = Omit<BoundedRequest, 'headers' | 'bounds'> & {
  readonly method: NonNullable<BoundedRequest['method']>
  readonly headers?: Record<string, string>
}

export interface ListedObject {
  readonly name: string
  readonly bytes: number
  /** Milliseconds since the epoch. */
  readonly writtenMs: number
}

const pageBytesMax = 8_388_608
/** A page names 1,000 objects; a table every hour makes some 340,000 in two weeks. */
const listingLimits = { pagesMax: 1000, bytesMax: 268_435_456, msMax: 300_000 }
const answerBytesMax = 65_536

export function openObjectStore(
  text: string,
  environment: Environment = process.env,
  listing = listingLimits,
) {
  const place = parseObjectUrl(text)
  if (place === undefined) throw pullError('other', `${text} is not s3://bucket/prefix`)
  const { bucket, prefix } = place
  const region = regionOf(environment)
  const base = bucketUrl(bucket, region, environment)
  const keyOf = (name: string): string => (prefix === '' ? name : `${prefix}/${name}`)
  const urlOf = (key: string): URL => {
    const url = new URL(base)
    url.pathname += key.split('/').map(encodeURIComponent).join('/')
    return url
  }
  const ask = async (of: ObjectRequest): Promise<BoundedAnswer> => {
    // Read each time: mounted files change while a server runs.
    const headers = await signedHeaders(of, region, credentialsOf(environment))
    return boundedRequest({ ...of, headers })
  }
  const expect = async (of: ObjectRequest, allowed: readonly number[], again = true) => {
    const answer = await (again ? withRetries(() => ask(of)) : ask(of))
    if (!allowed.includes(answer.status)) throw objectRefusal(of.method, shownUrl(of.url), answer)
    return answer
  }
  return {
    name: prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`,
    /** `again`: retries. */
    get: (
      name: string,
      how: { readonly bytesMax: number; readonly etag?: string | undefined; again?: boolean },
    ): Promise<BoundedAnswer> => {
      const { bytesMax, etag, again = false } = how
      const headers = etag === undefined ? {} : { 'if-none-match': etag }
      const of = { url: urlOf(keyOf(name)), method: 'GET', headers, bytesMax } as const
      return again ? withRetries(() => ask(of)) : ask(of)
    },
    /** `again` only for immutable names: a retried replacement could overwrite a later one. */
    put: async (
      name: string,
      body: Uint8Array,
      { cacheControl, again }: { readonly cacheControl: string; readonly again: boolean },
    ): Promise<void> => {
      const url = urlOf(keyOf(name))
      const headers = { 'content-length': String(body.length), 'cache-control': cacheControl }
      const of = { url, method: 'PUT', headers, body, bytesMax: answerBytesMax } as const
      await expect(of, [200], again)
    },
    list: async (folder: string): Promise<readonly ListedObject[]> => {
      const what = `${text}: the listing of ${folder}/`
      const objects = await everyPage(what, listing, async (token) => {
        const url = urlOf('')
        url.searchParams.set('list-type', '2')
        url.searchParams.set('prefix', `${keyOf(folder)}/`)
        if (token !== undefined) url.searchParams.set('continuation-token', token)
        return (await expect({ url, method: 'GET', bytesMax: pageBytesMax }, [200])).body
      })
      const skip = prefix === '' ? 0 : prefix.length + 1
      return objects.map((each) => ({ ...each, name: each.name.slice(skip) }))
    },
    remove: async (name: string): Promise<void> => {
      const url = urlOf(keyOf(name))
      await expect({ url, method: 'DELETE', bytesMax: answerBytesMax }, [200, 204, 404])
    },
  }
}

async function everyPage(
  what: string,
  most: typeof listingLimits,
  ask: (token: string | undefined) => Promise<Buffer>,
): Promise<readonly ListedObject[]> {
  const found: ListedObject[] = []
  const until = performance.now() + most.msMax
  let token: string | undefined
  let [pages, bytes] = [0, 0]
  const reached = (): string | undefined => {
    if (pages >= most.pagesMax) return `${most.pagesMax} pages`
    if (bytes >= most.bytesMax) return `${most.bytesMax} bytes`
    return performance.now() >= until ? `${most.msMax / 1000} s` : undefined
  }
  do {
    const limit = reached()
    if (limit !== undefined) {
      const next = 'Delete old objects there, or publish to another prefix.'
      throw pullError('size', `${what} does not end: ${limit}. ${next}`)
    }
    const body = await ask(token)
    pages += 1
    bytes += body.length
    const page = parseListing(body.toString('utf8'), token)
    found.push(...page.objects)
    token = page.next
  } while (token !== undefined)
  return found
}

/** A publisher's delays, with jitter of a half; a server retries at its next poll. */
const retryMs = [200, 1000, 4000]
const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504])

async function withRetries(ask: () => Promise<BoundedAnswer>): Promise<BoundedAnswer> {
  for (let tries = 0; ; tries += 1) {
    const ms = retryMs[tries]
    try {
      const answer = await ask()
      if (ms === undefined || !passing.has(answer.status)) return answer
    } catch (error) {
      if (ms === undefined || pullRefusalOf(error).code !== 'unreachable') throw error
    }
    await sleep(withJitter(ms, 0.5))
  }
}

function bucketUrl(bucket: string, region: string, environment: Environment): URL {
  const elsewhere = environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL']
  if (elsewhere !== undefined) return new URL(`${elsewhere.replace(/(?<!\/)\/+$/, '')}/${bucket}/`)
  // The certificate for *.s3.… matches no bucket name with dots.
  return bucket.includes('.')
    ? new URL(`https://s3.${region}.amazonaws.com/${bucket}/`)
    : new URL(`https://${bucket}.s3.${region}.amazonaws.com/`)
}

async function signedHeaders(
  { url, method, headers = {}, body }: ObjectRequest,
  region: string,
  credentials: Credentials | undefined,
): Promise<Record<string, string>> {
  if (credentials === undefined) return headers
  const sha256 = createHash('sha256')
    .update(body ?? '')
    .digest('hex')
  const signer = new AwsV4Signer({
    url: url.href,
    method,
    headers: { ...headers, 'x-amz-content-sha256': sha256 },
    service: 's3',
    region,
    ...credentials,
  })
  const signed = await signer.sign()
  return Object.fromEntries(signed.headers.entries())
}

function regionOf(environment: Environment): string {
  const said = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION']
  if (said !== undefined) return said
  const path = environment['AWS_CONFIG_FILE'] ?? awsFile('config', environment)
  const profile = environment['AWS_PROFILE'] ?? 'default'
  const section = profile === 'default' ? profile : `profile ${profile}`
  return profileMembers(path, section).get('region') ?? 'us-east-1'
}

function credentialsOf(environment: Environment): Credentials | undefined {
  const own = credentialsFrom((name) => environment[name.toUpperCase()])
  if (own !== undefined) return own
  const path = environment['AWS_SHARED_CREDENTIALS_FILE'] ?? awsFile('credentials', environment)
  const members = profileMembers(path, environment['AWS_PROFILE'] ?? 'default')
  return credentialsFrom((name) => members.get(name))
}

const awsFile = (name: string, environment: Environment): string =>
  join(environment['HOME'] ?? homedir(), '.aws', name)

function credentialsFrom(read: (name: string) => string | undefined): Credentials | undefined {
  const [accessKeyId, secretAccessKey] = [read('aws_access_key_id'), read('aws_secret_access_key')]
  const sessionToken = read('aws_session_token')
  if (!accessKeyId || !secretAccessKey) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) }
}

/** Empty without the file. */
function profileMembers(path: string, profile: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let text: string
  try {
    text = readBoundedFile(path, secretFile).bytes.toString('utf8')
  } catch {
    return members
  }
  let inside = false
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line.startsWith('[')) inside = line.slice(1, -1).trim() === profile
    const at = line.indexOf('=')
    if (inside && at > 0 && !line.startsWith('#')) {
      members.set(line.slice(0, at).trim(), line.slice(at + 1).trim())
    }
  }
  return members
}

function between(text: string, begin: string, end: string): string | undefined {
  const from = text.indexOf(begin)
  const to = from < 0 ? -1 : text.indexOf(end, from)
  return to < 0 ? undefined : text.slice(from + begin.length, to)
}

/** Published names are digits and letters, which XML does not escape. */
function parseListing(xml: string, token: string | undefined) {
  const member = (text: string, name: string): string | undefined =>
    between(text, `<${name}>`, `</${name}>`)
  const listed = xml.split('<Contents>').slice(1)
  const objects = listed.flatMap((text) => {
    const name = member(text, 'Key')
    const writtenMs = Date.parse(member(text, 'LastModified') ?? '')
    const bytes = Number(member(text, 'Size') ?? NaN)
    return name === undefined || Number.isNaN(writtenMs) ? [] : [{ name, bytes, writtenMs }]
  })
  const isCut = member(xml, 'IsTruncated') === 'true'
  const next = isCut ? member(xml, 'NextContinuationToken') : undefined
  if (next === undefined || next !== token) return { objects, next }
  throw pullError('other', 'The bucket keeps returning the same page of its listing.')
}

export function objectRefusal(
  method: string,
  shown: string,
  { status, body }: Pick<BoundedAnswer, 'status' | 'body'>,
): Error {
  const why = /<Code>(\w{1,80})<\/Code>/.exec(body.toString('utf8'))?.[1]
  const text = why === undefined ? '' : ` (${why})`
  return pullError('status', `${method} ${shown}: status ${status}${text}`)
}

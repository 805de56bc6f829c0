// What a store of objects is asked: requests signed as the protocol says (computed here once more,
// in the plainest way), with the credentials that the AWS tools would take, page by page.

import { createHash, createHmac } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openObjectStore } from '../../../src/publish/fetch/object-store.ts'

interface Asked {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

const asked: Asked[] = []
let answers: string[] = []
/** 200 where there is none; 0 ends the connection. */
let statuses: number[] = []
let endpoint = ''
const web = createServer((request, response) => void answer(request, response))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const { method = '', headers } = request
  const url = new URL(request.url ?? '', endpoint)
  asked.push({ method, url, headers, body: Buffer.concat(chunks) })
  const status = statuses.shift() ?? 200
  if (status === 0) request.socket.destroy()
  else response.writeHead(status).end(answers.shift() ?? '')
}

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  endpoint = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
})
beforeEach(() => {
  asked.length = 0
  answers = []
  statuses = []
})
afterAll(() => {
  web.closeAllConnections()
  web.close()
})

const hex = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const mac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest()

/** docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function signatureOf({ method, url, headers, body }: Asked, secret: string): string {
  const authorization = headers.authorization ?? ''
  const [, names = ''] = /SignedHeaders=([^,]*)/.exec(authorization) ?? []
  const [, scope = ''] = /Credential=[^/]*\/([^,]*)/.exec(authorization) ?? []
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const query = [...url.searchParams].map(([name, value]) => {
    return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  })
  const canonical = [
    method,
    url.pathname,
    query.toSorted().join('&'),
    lines.join(''),
    names,
    hex(body),
  ]
  const date = String(headers['x-amz-date'])
  const text = ['AWS4-HMAC-SHA256', date, scope, hex(canonical.join('\n'))].join('\n')
  const [day = '', region = '', service = '', end = ''] = scope.split('/')
  const key = mac(mac(mac(mac(`AWS4${secret}`, day), region), service), end)
  return mac(key, text).toString('hex')
}

const credentials = { AWS_ACCESS_KEY_ID: 'ID', AWS_SECRET_ACCESS_KEY: 'secret' }

const cutPage = (page: number): string =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${page}</NextContinuationToken>`
const pageBytes = cutPage(0).length

const forever = { cacheControl: 'immutable', again: true }

describe('a store of objects', () => {
  it('is asked with signatures, over the body, too', async () => {
    const store = openObjectStore('s3://tables/a+b/c', {
      ...credentials,
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'eu-central-1',
      AWS_SESSION_TOKEN: 'session',
    })
    await store.put('parts/x', Buffer.from('content'), forever)
    await store.get('manifest.json', { bytesMax: 100, etag: '"7"' })
    await store.list('parts')
    await store.remove('parts/x')
    expect(asked.map(({ method }) => method)).toEqual(['PUT', 'GET', 'GET', 'DELETE'])
    expect(asked[0]?.url.pathname).toBe('/tables/a%2Bb/c/parts/x')
    for (const request of asked) {
      const { authorization = '' } = request.headers
      expect(authorization).toContain('Credential=ID/')
      expect(authorization).toContain('/eu-central-1/s3/aws4_request')
      expect(authorization).toContain(`Signature=${signatureOf(request, 'secret')}`)
      expect(request.headers['x-amz-content-sha256']).toBe(hex(request.body))
      expect(request.headers['x-amz-security-token']).toBe('session')
    }
  })

  it('is named as it was given', () => {
    for (const name of ['s3://tables', 's3://tables/world/a']) {
      expect(openObjectStore(name, credentials).name).toBe(name)
    }
  })

  it('takes a profile of the shared file, and signs nothing where there is none', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'iprisk-aws-')), 'credentials')
    const lines = ['[default]', 'aws_access_key_id = A', 'aws_secret_access_key = a', '[other]']
    writeFileSync(path, [...lines, 'aws_access_key_id=B', 'aws_secret_access_key=b=='].join('\n'))
    const environment = { AWS_ENDPOINT_URL: endpoint, AWS_SHARED_CREDENTIALS_FILE: path }
    const get = (more: Readonly<Record<string, string>>) =>
      openObjectStore('s3://tables', { ...environment, ...more }).get('x', { bytesMax: 100 })
    await get({})
    await get({ AWS_PROFILE: 'other' })
    await get({ AWS_PROFILE: 'nobody' })
    const said = asked.map(({ headers }) => headers.authorization)
    expect(said[0]).toContain('Credential=A/')
    expect(said[1]).toContain(`Signature=${signatureOf(asked[1]!, 'b==')}`)
    expect(said[2]).toBeUndefined()
  })

  it('is asked again by a publisher where it is short of something, and not where it refuses', async () => {
    const store = openObjectStore('s3://tables', { ...credentials, AWS_ENDPOINT_URL: endpoint })
    statuses = [503, 0, 200]
    await store.put('parts/x', Buffer.from('content'), forever)
    expect(asked.map(({ body }) => body.toString())).toEqual(['content', 'content', 'content'])
    asked.length = 0
    statuses = [403]
    await expect(store.put('parts/x', Buffer.from('x'), forever)).rejects.toThrow(/status 403/)
    statuses = [500, 500, 500, 500]
    await expect(store.list('parts')).rejects.toThrow(/GET .*: status 500/)
    expect(asked).toHaveLength(5)
    // What another publisher may have replaced meanwhile is not put once more.
    asked.length = 0
    statuses = [503]
    const once = { cacheControl: 'no-cache', again: false }
    await expect(store.put('manifest.json', Buffer.from('x'), once)).rejects.toThrow(/503/)
    expect(asked).toHaveLength(1)
  })

  it('may answer what is put with 64 KiB, and no more', async () => {
    const store = openObjectStore('s3://tables', { ...credentials, AWS_ENDPOINT_URL: endpoint })
    const putAnsweredBy = (bytes: number): Promise<void> => {
      answers = ['x'.repeat(bytes)]
      return store.put('parts/x', Buffer.from('x'), forever)
    }
    await putAnsweredBy(65_536)
    await expect(putAnsweredBy(65_537)).rejects.toMatchObject({ code: 'pull_size' })
  })

  it('reads as a publisher does again, and as a server does once', async () => {
    const store = openObjectStore('s3://tables', { ...credentials, AWS_ENDPOINT_URL: endpoint })
    statuses = [503]
    expect((await store.get('x', { bytesMax: 100 })).status).toBe(503)
    statuses = [503]
    expect((await store.get('x', { bytesMax: 100, again: true })).status).toBe(200)
  })

  it('takes credentials that have changed, and the region of the shared configuration', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iprisk-aws-'))
    const [path, config] = [join(folder, 'credentials'), join(folder, 'config')]
    const write = (id: string): void =>
      writeFileSync(path, `[own]\naws_access_key_id=${id}\naws_secret_access_key=s\n`)
    write('OLD')
    writeFileSync(config, '[default]\nregion = us-west-1\n[profile own]\nregion = eu-north-1\n')
    const store = openObjectStore('s3://tables', {
      AWS_ENDPOINT_URL: endpoint,
      AWS_SHARED_CREDENTIALS_FILE: path,
      AWS_CONFIG_FILE: config,
      AWS_PROFILE: 'own',
    })
    await store.get('x', { bytesMax: 100 })
    write('NEW')
    await store.get('x', { bytesMax: 100 })
    const scopes = asked.map(({ headers }) =>
      /Credential=([^,]*)/.exec(headers.authorization ?? ''),
    )
    expect(scopes.map((scope) => scope?.[1]?.replace(/\d{8}/, 'DAY'))).toEqual([
      'OLD/DAY/eu-north-1/s3/aws4_request',
      'NEW/DAY/eu-north-1/s3/aws4_request',
    ])
  })

  it('lists page by page', async () => {
    const page = (name: string, more: string): string =>
      `<ListBucketResult><Contents><Key>world/parts/${name}</Key>` +
      `<LastModified>2026-08-22T00:00:00.000Z</LastModified><Size>7</Size></Contents>${more}</ListBucketResult>`
    const next = '<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>'
    answers = [page('a', next), page('b', '<IsTruncated>false</IsTruncated>')]
    const store = openObjectStore('s3://tables/world', {
      ...credentials,
      AWS_ENDPOINT_URL: endpoint,
    })
    const writtenMs = Date.parse('2026-08-22')
    expect(await store.list('parts')).toEqual([
      { name: 'parts/a', bytes: 7, writtenMs },
      { name: 'parts/b', bytes: 7, writtenMs },
    ])
    expect(asked[1]?.url.searchParams.get('continuation-token')).toBe('t')
    expect(asked[1]?.url.searchParams.get('prefix')).toBe('world/parts/')
    // A server that ignores the token would be asked for ever.
    answers = [page('a', next), page('a', next), page('a', next)]
    await expect(store.list('parts')).rejects.toThrow(/keeps returning the same page/)
  })

  it.each([
    ['pages', { pagesMax: 3 }, '3 pages', 3],
    ['bytes', { bytesMax: 2 * pageBytes + 1 }, `${2 * pageBytes + 1} bytes`, 3],
    ['just as many bytes', { bytesMax: 2 * pageBytes }, `${2 * pageBytes} bytes`, 2],
    ['time', { msMax: -1000 }, '-1 s', 0],
  ])('has a limit for a listing that does not end: %s', async (_what, limit, said, requests) => {
    // The token of each page is new, so that no page repeats the one before.
    answers = Array.from({ length: 10 }, (_, page) => cutPage(page))
    const environment = { ...credentials, AWS_ENDPOINT_URL: endpoint }
    const listing = { pagesMax: 9, bytesMax: 9999, msMax: 600_000, ...limit }
    const store = openObjectStore('s3://tables/world', environment, listing)
    await expect(store.list('parts')).rejects.toMatchObject({
      code: 'pull_size',
      message: `s3://tables/world: the listing of parts/ does not end: ${said}. Delete old objects there, or publish to another prefix.`,
    })
    expect(asked).toHaveLength(requests)
  })
})

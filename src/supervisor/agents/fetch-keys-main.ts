// The process that fetches directories of keys, started by agent-keys.ts: their content is
// untrusted. It connects only to public addresses and follows no redirect (Web Bot Auth, 5.5).

import { answerParent } from '../../base/system/child-task.ts'
import { messageOf } from '../../base/coded-error.ts'
import { boundedRequest } from '../../publish/fetch/bounded-request.ts'
import { parseKeyDirectory } from '../../agents/key-directory.ts'
import type { FetchedDirectory } from './agent-keys.ts'

const mediaType = /^application\/http-message-signatures-directory\+json\s*(;|$)/i
const bytesMax = 65_536
const bounds = { connectMs: 5000, idleMs: 5000, wholeMs: 10_000 }

async function fetchDirectory(url: string): Promise<FetchedDirectory> {
  const asked = { url: new URL(url), bytesMax, bounds, isPublic: true }
  const { status, contentType = '', body } = await boundedRequest(asked)
  if (status !== 200) throw new Error(`status ${status}`)
  if (!mediaType.test(contentType)) throw new Error(`its media type is "${contentType}"`)
  return { url, keys: parseKeyDirectory(body.toString('utf8'), Date.now() / 1000) }
}

answerParent((urls: readonly string[]): Promise<readonly FetchedDirectory[]> => {
  const failed = (url: string) => (error: unknown) => ({ url, failure: messageOf(error) })
  return Promise.all(urls.map((url) => fetchDirectory(url).catch(failed(url))))
})

// A bucket of an S3-compatible store as a place for published tables. A PUT is atomic.

import { type Environment, objectRefusal, openObjectStore } from '../fetch/object-store.ts'
import type { PublishPlace } from './publish-place.ts'

export function openObjectPlace(url: string, environment?: Environment): PublishPlace {
  const store = openObjectStore(url, environment)
  return {
    name: store.name,
    read: async (name, bytesMax) => {
      const { status, body } = await store.get(name, { bytesMax, again: true })
      if (status === 200) return body
      if (status === 404) return undefined
      throw objectRefusal('GET', `${url}/${name}`, { status, body })
    },
    keep: (name, bytes) =>
      store.put(name, bytes, { cacheControl: 'public, max-age=31536000, immutable', again: true }),
    replace: (name, bytes) => store.put(name, bytes, { cacheControl: 'no-cache', again: false }),
    list: store.list,
    remove: store.remove,
  }
}

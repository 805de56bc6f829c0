// Where tables are published, under `manifest.json`, `parts/<hash>` and `notices/<table>.txt`.
//
// Invariants: readable content is whole; `replace` is atomic for readers; `keep` never changes
// existing content.

import type { ListedObject } from '../fetch/object-store.ts'

export interface PublishPlace {
  readonly name: string
  /** `undefined` if absent; at most `bytesMax`. */
  readonly read: (name: string, bytesMax: number) => Promise<Buffer | undefined>
  readonly keep: (name: string, bytes: Uint8Array) => Promise<void>
  readonly replace: (name: string, bytes: Uint8Array) => Promise<void>
  readonly list: (folder: string) => Promise<readonly ListedObject[]>
  readonly remove: (name: string) => Promise<void>
}

// Where tables are published. Names are relative: `manifest.json` or `parts/<hash>`.
//
// Invariants: a named content is whole; `replace` is atomic for readers; `keep` never changes what
// is there.

import type { ListedObject } from '../fetch/object-store.ts'

export interface PublishPlace {
  readonly name: string
  /** `undefined` where there is nothing; at most `bytesMax`. */
  readonly read: (name: string, bytesMax: number) => Promise<Buffer | undefined>
  readonly keep: (name: string, bytes: Uint8Array) => Promise<void>
  readonly replace: (name: string, bytes: Uint8Array) => Promise<void>
  readonly list: (folder: string) => Promise<readonly ListedObject[]>
  readonly remove: (name: string) => Promise<void>
}

// Where tables are published: a folder that a static web server shows, or a bucket of an object
// store. Names are relative, `manifest.json` or `parts/<hash>`.
//
// Invariants: what has a name is whole; `replace` changes it at one moment, for readers there is
// either the old or the new content; `keep` never changes what is there under that name.

export interface StoredName {
  readonly name: string
  readonly bytes: number
  /** When it was written, milliseconds since the epoch. */
  readonly writtenMs: number
}

export interface PublishPlace {
  readonly name: string
  /** `undefined` where there is nothing; not more than `bytesMax`. */
  readonly read: (name: string, bytesMax: number) => Promise<Buffer | undefined>
  /** Puts what never changes. */
  readonly keep: (name: string, bytes: Uint8Array) => Promise<void>
  /** Puts what is asked for anew each time. */
  readonly replace: (name: string, bytes: Uint8Array) => Promise<void>
  readonly list: (folder: string) => Promise<readonly StoredName[]>
  readonly remove: (name: string) => Promise<void>
}

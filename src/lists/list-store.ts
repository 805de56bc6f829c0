// Where lists are kept. test/account/stores/list-conformance.ts tests every store. A store knows
// nothing of entries: it keeps one text, the catalogue, and the chunks that it refers to.
//
// Invariants of every store:
// - `replace` is atomic: of two that replace the same catalogue one succeeds.
// - `putChunks` and `replace` resolve when the change would survive a crash of the machine.
// - A chunk is never changed; one that a catalogue refers to was put before that catalogue.
// - A tag names one catalogue for ever, also where a store has lost what came after it.

import { randomUUID } from 'node:crypto'

/** A count and random letters, so that no tag is used twice. */
export function nextTag(tag: string): string {
  const count = Number(tag.split('-')[0] ?? 0) + 1
  return `${count}-${randomUUID().slice(0, 8)}`
}

export interface KeptCatalogue {
  /** `''` for a store without lists. */
  readonly tag: string
  readonly text: string
}

export interface ListStore {
  readonly catalogue: () => Promise<KeptCatalogue>
  readonly tag: () => Promise<string>
  /** In order; `undefined` for a missing one. */
  readonly chunks: (ids: readonly string[]) => Promise<readonly (string | undefined)[]>
  readonly putChunks: (
    chunks: readonly { readonly id: string; readonly text: string }[],
  ) => Promise<void>
  /** Returns the new tag; `undefined` if the catalogue has another tag. */
  readonly replace: (tag: string, text: string) => Promise<string | undefined>
  readonly removeChunks: (ids: readonly string[]) => Promise<void>
  readonly chunkIds: () => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

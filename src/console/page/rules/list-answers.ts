// What the routes of own lists answer (src/admin/routes/lists-api.ts), as far as it is shown.

export interface ListHead {
  readonly name: string
  readonly effect: 'none' | 'allow' | 'block'
  readonly entries: number
  readonly created: string
}

export interface ListEntry {
  readonly entry: string
  readonly added: string
  readonly expires?: string
  readonly note?: string
}

/** What every change of a list answers. */
export interface Acted {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly cautions: readonly string[]
  readonly in_effect: boolean
}

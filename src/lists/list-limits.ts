// The limits of own lists.

import { msPerDay } from '../base/day.ts'

/** Users type it; answers and metrics hold it. */
export const listNameForm = /^[a-z][a-z0-9-]{0,31}$/
export const listNameCharsMax = 32

/** Outcomes fill them (contract 6.11: outcomes in own lists): their effect is `none`. */
export const reportedLists = ['reported', 'reported-shared'] as const
export type ReportedList = (typeof reportedLists)[number]
export const isReportedList = (name: string): name is ReportedList =>
  reportedLists.some((list) => list === name)

/** This many abusive outcomes within this time add an address. */
export const [abusiveMin, outcomeWindowMs] = [5, msPerDay] as const

/** All may match one address, and are then in its answer. */
export const listsMax = 1000

/** In all lists: twice the million that they are built for. */
export const listEntriesMax = 2_000_000

/** An odd range is up to 62 prefixes (IPv6: 254) of the compiled file. */
export const listPrefixesMax = 4_000_000

export const noteBytesMax = 200

/** On the command line or the API; a file has no such limit. */
export const actEntriesMax = 10_000

/** What adding one entry rewrites. */
export const chunkEntriesMax = 4096

/** In all lists together. */
export const undoActsMax = 10

/** Two million entries with usual notes. */
export const listFileBytesMax = 268_435_456

/** Wider entries need `--force`. */
export const widestPrefix = { 4: 8, 6: 19 } as const

// The limits of own lists, each with its reason. Whoever meets one is told its number.

/** A list's name, which people type and answers and metrics hold. */
export const listNameForm = /^[a-z][a-z0-9-]{0,31}$/
export const listNameCharsMax = 32

/** Every one of them may match one address, and then stands in its answer. */
export const listsMax = 1000

/** Of all lists together: twice the million that they are built for. */
export const listEntriesMax = 2_000_000

/**
 * The prefixes that all entries come to: an odd range is up to 62 of them (IPv6: 254), and the
 * compiled file holds prefixes.
 */
export const listPrefixesMax = 4_000_000

/** A note says why, in a line. */
export const noteBytesMax = 200

/** Entries of one act of the command line or the API; a file has no such limit. */
export const actEntriesMax = 10_000

/** A chunk holds at most as many entries: what adding one of them rewrites. */
export const chunkEntriesMax = 4096

/** Acts that can be undone, of all lists together. */
export const undoActsMax = 10

/** A file to import: two million entries with notes of usual length. */
export const listFileBytesMax = 268_435_456

/** Wider entries want `--force`: so much space is nobody's office and no attacker's. */
export const widestPrefix = { 4: 8, 6: 19 } as const

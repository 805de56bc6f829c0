// Constants of the file format, shared by writer and reader: version, strides, packed fields.
// FORMAT.md illustrates them. Changed meanings need a new `major`, additions a new `minor`.

export const formatMajor = 1
export const formatMinor = 0

/** Alignment of sections, so that every view is aligned and none shares a cache line. */
export const sectionAlignment = 64

/**
 * The IPv4 index has at least 2^16 buckets, so that starts inside a bucket fit into 16 bits, and
 * doubles while buckets would have more than 20 pieces on average: an index in the processor's
 * caches outweighs one more search step (4.3 M pieces: 281 ns at 2^18 buckets, 352 at 2^20). Beyond
 * 2^20 buckets, which fit no cache, buckets have 4 pieces.
 */
export const ipv4IndexBits = { min: 16, max: 24, cachedMax: 20 } as const
export const ipv4BucketPieces = { cached: 20, uncached: 4 } as const

/** The first-level IPv6 index has this many buckets, and one end. */
export const ipv6IndexBuckets = 2 ** 20

/** How many bits an IPv4 address is shifted to its bucket in an index of `elements`. */
export const ipv4IndexShift = (elements: number): number => Math.clz32(elements - 1) + 1

/**
 * Splits an IPv6 address in 2000::/3 into 3 fixed bits, its bucket, a key and a tail (words of 9,
 * 32 and 32 bits).
 *
 *   bits 0-2   bits 3-22   bits 23-54                  bits 55-127
 *   001        bucket      key, words[0] and [1]       tail = 9 | 32 | 32
 */
export const tailTopBits = 9
/** Keys of a bucket: 32 bits. */
export const bucketKeys = 2 ** 32

/**
 * The finer IPv6 indexes, since one bucket may have 300,000 keys. A bucket of at least `crowded`
 * keys is cut into equal slots, and such a slot once more. Their place follows from the rank of the
 * keys: n keys from rank r own the elements from r >> share to before (r + n) >> share.
 */
export const secondLevel = { share: 1, crowded: 16 } as const
export const thirdLevel = { share: 2, crowded: 32 } as const

/** The largest k for 2^k slots of `keys` keys: their 2^k + 1 elements must fit. */
export const slotBits = (keys: number, share: number): number =>
  31 - Math.clz32((keys >>> share) - 1)
/** In `ipv6_records[i]`: key i has several pieces, and the rest is a tail group. */
export const tailGroupFlag = 0x8000_0000
export const tailWords = 3

/** Words of a record: network id, location id, verdict id, evidence list id; 0 is none. */
export const recordWords = 4
/** Words of a network: asn, organization, traits, evidence list id. */
export const networkWords = 4
/** Words of a country: code, continent code, continent, name, currency (all strings). */
export const countryWords = 5
/** Words of a region: country id, state, time zone (strings), accuracy, two runs. */
export const regionWords = 6
/** Degrees are stored in ten-thousandths. */
export const degreeScale = 10_000
/** Words of a verdict: packed enums and score, then see src/table/file/verdict-record.ts. */
export const verdictWords = 6
/** Words of a piece of evidence; see src/table/file/evidence-record.ts. */
export const evidenceWords = 6
/** Words of an IPv6 range of evidence: first and last address. */
export const evidenceRangeWords = 8

/**
 * Slots of an AS' densities: IPv4 addresses, those listed by kind, IPv6 /64s, those listed by kind
 * (kinds in their order). Only nonzero ones are stored.
 */
export const densitySlots = 18

/**
 * A run: JSON that is copied into answers, UTF-8, eight bytes an element. Its first element is two
 * words: bytes of the text, and a location's region (from 1). The text follows, padded with zeros.
 * No eight bytes of UTF-8 are a NaN, whose bits a copy might change: an exponent of ones is 7f or
 * ff after f0 to ff, which no character has.
 */
export const runElementBytes = 8
export const runElementWords = 2

/**
 * Limits of a table, so that every answer is fast. The world has a header of 20 kB with 78 sources,
 * at most 10 pieces of evidence and 9 reasons in a list, and 22 ASes of a source.
 */
export const headerBytesMax = 1 << 20
export const sourcesMax = 4096
export const sourceAsnsMax = 4096
export const evidenceListMax = 4096
export const reasonListMax = 64
/** The longest code has 25. Bounds conditions, which may search every code (src/policy). */
export const reasonCodeBytesMax = 64
/** Days of evidence have 16 bits: until 2149. */
export const dayMax = 0xffff

/** The last bytes of the file: without them it is incomplete. */
export const trailerBytes = 32
export const trailerMagic = 'IPRKEND1'
/** A table has at least a header and a trailer; FlatBuffers end at 2 GiB. */
export const fileBytesMax = 2 ** 31 - 1

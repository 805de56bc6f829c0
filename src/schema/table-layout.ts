// The numbers of the file format that writer and reader share: version, strides, packed fields.
// FORMAT.md draws them. A change of meaning here is a new `major`; an addition is a new `minor`.

export const formatMajor = 1
export const formatMinor = 0

/** Sections start at multiples of this, so that every view is aligned and none shares a line. */
export const sectionAlignment = 64

/**
 * The IPv4 index has at least 2^16 buckets, so that starts inside a bucket fit into 16 bits, and
 * doubles whenever buckets would hold more than 20 pieces on average: an index that the processor's
 * caches hold is worth one more step a search (4.3 M pieces: 281 ns at 2^18 buckets, 352 at 2^20).
 * Beyond 2^20 buckets caches hold none, and buckets have 4 pieces.
 */
export const ipv4IndexBits = { min: 16, max: 24, cachedMax: 20 } as const
export const ipv4BucketPieces = { cached: 20, uncached: 4 } as const

/** The first-level index of IPv6 has so many buckets, and one end. */
export const ipv6IndexBuckets = 2 ** 20

/** How far an IPv4 address is shifted to its bucket in an index of so many elements. */
export function ipv4IndexShift(elements: number): number {
  return Math.clz32(elements - 1) + 1
}

/**
 * An IPv6 address inside 2000::/3 as 3 fixed bits, its bucket, a key and a tail (words of 9, 32 and
 * 32 bits).
 *
 *   bits 0-2   bits 3-22   bits 23-54                  bits 55-127
 *   001        bucket      key, words[0] and [1]       tail = 9 | 32 | 32
 */
export const tailTopBits = 9
/** Keys of a bucket: 32 bits. */
export const bucketKeys = 2 ** 32

/**
 * The finer IPv6 indexes: one bucket may hold 300,000 keys. A bucket of at least `crowded` keys is
 * cut into equal slots, and such a slot once more. Their place follows from the rank of the keys: n
 * keys from rank r on own the elements from r >> share to before (r + n) >> share.
 */
export const secondLevel = { share: 1, crowded: 16 } as const
export const thirdLevel = { share: 2, crowded: 32 } as const

/** k, where `keys` keys are cut into 2^k slots: the most whose 2^k + 1 elements have room. */
export function slotBits(keys: number, share: number): number {
  return 31 - Math.clz32((keys >>> share) - 1)
}
/** Set in `ipv6_records[i]` when key i has several pieces: the rest is a tail group. */
export const tailGroupFlag = 0x8000_0000
export const tailWords = 3

/** words of one record: network id, location id, verdict id, evidence list id; 0 is none. */
export const recordWords = 4
/** words of one network: asn, organization, traits, evidence list id. */
export const networkWords = 4
/** words of one country: code, continent code, continent, name, currency (all strings). */
export const countryWords = 5
/** words of one region: country id, state, time zone (strings), accuracy, two runs. */
export const regionWords = 6
/** Degrees are whole ten-thousandths. */
export const degreeScale = 10_000
/** words of one verdict: packed enums and score, then see src/table/file/verdict-record.ts. */
export const verdictWords = 6
/** words of one evidence; see src/table/file/evidence-record.ts. */
export const evidenceWords = 6
/** words of one IPv6 range of evidence: its first address and its last. */
export const evidenceRangeWords = 8

/**
 * Slots of a network's densities, all of its AS: IPv4 addresses, those that each kind lists, IPv6
 * /64s, those that each kind lists (kinds in their order). The table has those that are not 0.
 */
export const densitySlots = 18

/**
 * A run: JSON that is copied into answers, in UTF-8, eight bytes an element. Its first element is
 * two words: bytes of the text, and for a location its region (from 1). Then the text, filled up
 * with zeros. No eight bytes of UTF-8 are a NaN, whose bits a copy might change: an exponent of
 * ones is 7f or ff behind f0 to ff, which no character has.
 */
export const runElementBytes = 8
export const runElementWords = 2

/**
 * What a table may have at most, so that no answer takes long to make. The world has a header of
 * 20 kB with 78 sources, at most 10 pieces of evidence and 9 reasons in a list, 22 ASes of a source.
 */
export const headerBytesMax = 1 << 20
export const sourcesMax = 4096
export const sourceAsnsMax = 4096
export const evidenceListMax = 4096
export const reasonListMax = 64
/** The longest code has 25. Bounds the work of conditions, which may search each code (src/policy). */
export const reasonCodeBytesMax = 64
/** Days of evidence have 16 bits: until 2149. */
export const dayMax = 0xffff

/** The last bytes of the file: it ends with them or it is not whole. */
export const trailerBytes = 32
export const trailerMagic = 'IPRKEND1'
/** A table has at least a header and a trailer; FlatBuffers end at 2 GiB. */
export const fileBytesMax = 2 ** 31 - 1

// Forged tables: a good table with something else in one to three places and every checksum made to
// fit, so that only the content can give it away. Elements of every section, bytes of runs and
// texts, words and bytes of the header. Seeded: the same seed forges the same tables.

import { crc32 } from 'node:zlib'
import { ByteBuffer } from 'flatbuffers'
import { TableHeader } from '../../../src/schema/generated/iprisk/table-header.ts'
import { type SectionName, sectionNames } from '../../../src/schema/table-sections.ts'
import { type TableView, readTableView } from '../../../src/table/file/table-view.ts'
import type { Random } from '../../harness/random.ts'

export interface Patch {
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface Forgery {
  readonly name: string
  readonly patches: readonly Patch[]
}

/** Texts of JSON, of other encodings and of terminals, of the length of what they replace. */
const wicked = ['"', '\\', '}', '"}', '\n', '\u0000', '\u001b', ',"a":', '1e9', '\xff\xfe', '\xc3']
const doubles = [NaN, Infinity, -Infinity, -1, 0, 0.5, 1, 2, 1e308, 2 ** 60, -0]
const wordsOfNote = [
  0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff,
]

/** What a table must be to be forged. */
interface Ground {
  readonly good: Uint8Array
  readonly file: TableView
  /** Where the header has the checksum of each section. */
  readonly checksumAt: ReadonlyMap<SectionName, number>
}

function groundOf(good: Uint8Array): Ground {
  const header = TableHeader.getRootAsTableHeader(new ByteBuffer(good))
  const checksumAt = new Map<SectionName, number>()
  for (let i = 0; i < header.checksumsLength(); i++) {
    const entry = header.checksums(i)!
    // The second field of SectionEntry; absent where it is 0.
    // oxlint-disable-next-line no-underscore-dangle -- so FlatBuffers call it.
    const field = entry.bb!.__offset(entry.bb_pos, 6)
    const name = sectionNames.find((one) => one === entry.name())
    if (field !== 0 && name !== undefined) checksumAt.set(name, entry.bb_pos + field)
  }
  return { good, file: readTableView(good, 'good'), checksumAt }
}

/** `count` forgeries of `good`. */
export function* forgeries(good: Uint8Array, random: Random, count: number): Generator<Forgery> {
  const ground = groundOf(good)
  for (let n = 0; n < count; n++) {
    const places = 1 + (random.below(4) === 0 ? random.below(3) : 0)
    const changes = Array.from({ length: places }, () =>
      random.below(5) === 0 ? inHeader(ground, random) : inSection(ground, random),
    )
    const name = changes.map((change) => change.name).join('; ')
    yield { name, patches: withChecksums(ground, changes) }
  }
}

/** The same for a change that is named: to element `index` of a section. */
export function forgeElement(
  good: Uint8Array,
  section: SectionName,
  index: number,
  value: number,
): Forgery {
  const ground = groundOf(good)
  const view = ground.file.views[section].slice(index, index + 1)
  view[0] = value
  const change = elementChange(ground, section, index, new Uint8Array(view.buffer))
  return { name: change.name, patches: withChecksums(ground, [change]) }
}

interface Change extends Patch {
  readonly name: string
  /** `undefined` for the header. */
  readonly section: SectionName | undefined
}

function inSection(ground: Ground, random: Random): Change {
  const names = sectionNames.filter((one) => ground.file.views[one].length > 0)
  const section = names[random.below(names.length)]!
  const view = ground.file.views[section]
  // The first elements and the last are those that most others rest on.
  const near = random.below(3) === 0 ? Math.min(8, view.length) : view.length
  const index = random.below(2) === 0 ? random.below(near) : view.length - 1 - random.below(near)
  if (section === 'runs' || section === 'string_bytes')
    return inText(ground, section, index, random)
  const bytes = new Uint8Array(view.BYTES_PER_ELEMENT)
  const out = new DataView(bytes.buffer)
  const was = view[index]!
  if (bytes.length === 8) {
    const values = [...doubles, was + 1, was - 1, was * 2, view[random.below(view.length)]!]
    out.setFloat64(0, values[random.below(values.length)]!, true)
  } else if (bytes.length === 4) {
    const flipped = was ^ (1 << random.below(32))
    const other = view[random.below(view.length)]!
    const values = [
      ...wordsOfNote,
      was + 1,
      was - 1,
      other,
      flipped,
      random.word(),
      random.below(64),
    ]
    out.setUint32(0, values[random.below(values.length)]! >>> 0, true)
  }
  return elementChange(ground, section, index, bytes)
}

/** Inside the text of a run, its length or its facts, or inside a string. */
function inText(
  ground: Ground,
  section: 'runs' | 'string_bytes',
  index: number,
  random: Random,
): Change {
  const view = ground.file.views[section]
  const from = index * view.BYTES_PER_ELEMENT + random.below(view.BYTES_PER_ELEMENT)
  const text = wicked[random.below(wicked.length)]!
  const room = view.byteLength - from
  const bytes = Buffer.from(text, 'latin1').subarray(0, room)
  return elementChange(ground, section, from / view.BYTES_PER_ELEMENT, bytes)
}

function elementChange(
  { good, file }: Ground,
  section: SectionName,
  index: number,
  bytes: Uint8Array,
): Change {
  const view = file.views[section]
  const offset = view.byteOffset - good.byteOffset + Math.round(index * view.BYTES_PER_ELEMENT)
  const hex = Buffer.from(bytes).toString('hex')
  return { name: `${section}[${index}] = 0x${hex}`, section, offset, bytes }
}

function inHeader({ good, file }: Ground, random: Random): Change {
  const aligned = random.below(2) === 0
  const last = file.headerBytes - 4
  const offset = aligned ? random.below(last / 4) * 4 : random.below(last)
  const bytes = aligned ? new Uint8Array(4) : new Uint8Array(1)
  const was = new DataView(good.buffer, good.byteOffset).getUint32(offset, true)
  const values = [...wordsOfNote, was + 1, was - 1, was + 4, was * 2, random.word()]
  if (aligned) {
    const value = values[random.below(values.length)]! >>> 0
    new DataView(bytes.buffer).setUint32(0, value, true)
  } else bytes[0] = random.below(256)
  const hex = Buffer.from(bytes).toString('hex')
  return { name: `header byte ${offset} = 0x${hex}`, section: undefined, offset, bytes }
}

/** The changes, then the checksums of their sections, then that of the header. */
function withChecksums(ground: Ground, changes: readonly Change[]): readonly Patch[] {
  const { good, file, checksumAt } = ground
  const header = good.slice(0, file.headerBytes)
  const patches: Patch[] = []
  const touched = new Set(changes.map(({ section }) => section))
  for (const name of touched) {
    const at = name === undefined ? undefined : checksumAt.get(name)
    if (name === undefined || at === undefined) continue
    const view = file.views[name]
    const from = view.byteOffset - good.byteOffset
    const section = good.slice(from, from + view.byteLength)
    for (const { offset, bytes } of changes.filter((change) => change.section === name)) {
      section.set(bytes, offset - from)
      patches.push({ offset, bytes })
    }
    new DataView(header.buffer).setUint32(at, crc32(section), true)
  }
  for (const { offset, bytes } of changes.filter((change) => change.section === undefined)) {
    header.set(bytes, offset)
  }
  const sum = new Uint8Array(4)
  new DataView(sum.buffer).setUint32(0, crc32(header), true)
  return [...patches, { offset: 0, bytes: header }, { offset: good.length - 16, bytes: sum }]
}

// Makes the next generation of a published set in its folder (set-folder.ts): the set, its text,
// and the differences from the kept generations. Runs in a low-priority process.

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { IpriskError } from '../base/coded-error.ts'
import { acquireFileLock } from '../base/system/file-lock.ts'
import { makeOwnFolder } from '../base/system/own-files.ts'
import { type ExportFile, openExportFile } from '../export/export-file.ts'
import {
  type SetLabel,
  type SetManifest,
  differencePath,
  readManifestSync,
  readSetSync,
  setPath,
  textNamed,
  textPath,
  writeManifestSync,
} from './set-folder.ts'
import { forEachAdded, ipv4End, labelsMax, setRecordWords } from './set-records.ts'

const keptGenerations = 8

/** How many texts of one generation are kept: formats, families and pages. */
const textsMax = 64

/** The text that bouncers read; differences are written only for it. */
export const streamText = 'all'

export interface SetContent {
  readonly records: Uint32Array
  /** Those it was given, and new ones after them. */
  readonly labels: readonly SetLabel[]
}

/** `prefixes`: more than the set may have. `expiresMs`: until then the same inputs make the same
 * set. */
export type MadeSet = (SetContent | { readonly prefixes: number }) & { readonly expiresMs: number }

export interface SetMaker {
  readonly inputs: string
  readonly form: string
  /** The texts that readers wait for. */
  readonly texts: readonly string[]
  readonly make: (labels: readonly SetLabel[]) => MadeSet
  /** Writes a text of the set; names that end in `.gz` are the compressed ones. */
  readonly write: (text: string, file: ExportFile, of: SetContent) => void
  /** Whether a text has more of the table than prefixes. */
  readonly readsTable: (text: string) => boolean
  readonly nowMs: number
}

type Wanted = Pick<SetMaker, 'inputs' | 'form' | 'nowMs'>

function isSame<Made extends NonNullable<SetManifest['refused']>>(
  made: Made | undefined,
  { inputs, form, nowMs }: Wanted,
): made is Made {
  return made?.inputs === inputs && made.form === form && (made.expiresMs ?? Infinity) > nowMs
}

export function isCurrent(
  folder: string,
  manifest: SetManifest | undefined,
  wanted: Wanted & Pick<SetMaker, 'texts'>,
): boolean {
  if (manifest?.refused !== undefined) return isSame(manifest.refused, wanted)
  return (
    isSame(manifest, wanted) &&
    wanted.texts.every((text) => existsSync(textPath(folder, manifest.generation, text)))
  )
}

/** Throws `export_unwritable`, and `set_busy` while another process makes one. */
export function makeNextGeneration(
  folder: string,
  maker: SetMaker,
): { readonly manifest: SetManifest; readonly isNew: boolean } {
  makeOwnFolder(folder)
  const lock = acquireFileLock(join(folder, 'lock'))
  if (lock === undefined) {
    const message = `Another process is making the set in ${folder}; a later pull tries again.`
    throw new IpriskError({ code: 'set_busy', message, fault: 'environment', retryable: true })
  }
  try {
    const before = readManifestSync(folder)
    const records = isSame(before, maker) ? readSetSync(folder, before.generation) : undefined
    if (before !== undefined && records !== undefined)
      return goOn(folder, before, { maker, records, texts: textsOf(folder, before, maker) })
    // Rules come and go; a policy has far fewer than the other half.
    const goesOn = before?.form === maker.form && before.labels.length < labelsMax / 2
    const made = maker.make(goesOn ? before.labels : [])
    if ('records' in made) return makeAfter(folder, goesOn ? before : undefined, { maker, made })
    const { inputs, form, nowMs: madeMs } = maker
    const none = { series: randomUUID(), generation: 0, labels: [], from: [], madeMs }
    const refused = { inputs, form, ...made }
    const manifest = { ...(before ?? { ...none, ...refused }), refused }
    writeManifestSync(folder, manifest)
    return { manifest, isNew: false }
  } finally {
    lock.release()
  }
}

/** The set of `before` unchanged, with the texts wanted now. */
function goOn(folder: string, before: SetManifest, writing: Writing) {
  const manifest = { ...before, refused: undefined }
  writeTexts(folder, manifest, writing)
  writeManifestSync(folder, manifest)
  removeOthers(folder, manifest, writing.texts)
  return { manifest, isNew: false }
}

function makeAfter(
  folder: string,
  before: SetManifest | undefined,
  { maker, made }: { readonly maker: SetMaker; readonly made: SetContent & MadeSet },
) {
  const { generation: last = 0, series = randomUUID() } = before ?? {}
  const { form, inputs, nowMs: madeMs } = maker
  const { records, labels, expiresMs } = made
  const prefixes = records.length / setRecordWords
  const ipv4 = ipv4End(records) / setRecordWords
  const facts = { series, form, inputs, labels, prefixes, ipv4, expiresMs }
  const old = before === undefined ? undefined : readSetSync(folder, last)
  const texts = textsOf(folder, before, maker)
  const isUnchanged = old !== undefined && Buffer.compare(bytesOf(old), bytesOf(records)) === 0
  if (before !== undefined && isUnchanged && !texts.some(maker.readsTable))
    return goOn(folder, { ...before, ...facts }, { maker, records, texts })
  const generation = last + 1
  writeFile(setPath(folder, generation), (file) => file.bytes(bytesOf(records)))
  const kept = before === undefined ? [] : [last, ...before.from].slice(0, keptGenerations)
  const sets = kept.flatMap((one) => {
    const then = one === last ? old : readSetSync(folder, one)
    return then === undefined ? [] : [[one, then] as const]
  })
  const from = sets.map(([one]) => one)
  const grown = old === undefined ? {} : { before: old.length / setRecordWords }
  const manifest = { ...facts, ...grown, generation, from, madeMs }
  writeTexts(folder, manifest, { maker, records, texts })
  for (const [one, then] of texts.includes(streamText) ? sets : []) {
    // A prefix whose rule alone changed is new, and not gone: bouncers delete by value and action.
    const gone = added([byAction(records, labels), byAction(then, labels)], then)
    const came = added([then, records], records)
    for (const [what, records] of [
      ['gone', gone],
      ['new', came],
    ] as const)
      writeFile(differencePath(folder, [one, generation], what), (file) =>
        maker.write(streamText, file, { records, labels }),
      )
  }
  writeManifestSync(folder, manifest)
  removeOthers(folder, manifest, texts)
  return { manifest, isNew: true }
}

/** Those wanted, and the newest that the previous generation had, so that no reader waits again. */
function textsOf(
  folder: string,
  before: SetManifest | undefined,
  { texts }: SetMaker,
): readonly string[] {
  const had = readdirSync(folder).flatMap((name) => {
    const text = textNamed(name, before?.generation)
    return text === undefined ? [] : [{ text, ms: statSync(join(folder, name)).mtimeMs }]
  })
  const newest = had.toSorted((one, other) => other.ms - one.ms).map(({ text }) => text)
  // The plain text comes before its compressed one.
  return [...new Set([...texts, ...newest])].slice(0, textsMax).toSorted()
}

interface Writing {
  readonly maker: SetMaker
  readonly records: Uint32Array
  readonly texts: readonly string[]
}

function writeTexts(
  folder: string,
  { generation, labels }: Pick<SetManifest, 'generation' | 'labels'>,
  { maker, records, texts }: Writing,
): void {
  for (const text of texts) {
    const path = textPath(folder, generation, text)
    if (existsSync(path)) continue
    const plain = text.endsWith('.gz') ? path.slice(0, -'.gz'.length) : undefined
    writeFile(path, (file) => {
      if (plain === undefined) maker.write(text, file, { records, labels })
      else file.bytes(gzipSync(readFileSync(plain)))
    })
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** With the first label of the same action in place of each. */
function byAction(records: Uint32Array, labels: readonly SetLabel[]): Uint32Array {
  const first = labels.map(({ action }) => labels.findIndex((one) => one.action === action))
  const changed = records.slice()
  for (let at = setRecordWords - 1; at < changed.length; at += setRecordWords) {
    const word = changed[at]!
    changed[at] = word - (word & 0xffff) + first[word & 0xffff]!
  }
  return changed
}

/** The records of `records` that `after` has and `before` lacks. */
function added(
  [before, after]: readonly [Uint32Array, Uint32Array],
  records: Uint32Array,
): Uint32Array {
  const places: number[] = []
  forEachAdded(before, after, (at) => void places.push(at))
  const found = new Uint32Array(places.length * setRecordWords)
  places.forEach((at, i) => {
    found.set(records.subarray(at, at + setRecordWords), i * setRecordWords)
  })
  return found
}

function writeFile(path: string, write: (file: ExportFile) => void): void {
  const file = openExportFile(path)
  try {
    write(file)
    file.commit()
  } finally {
    file.discard()
  }
}

/** Their readers have them open. */
function removeOthers(
  folder: string,
  { generation, from }: SetManifest,
  texts: readonly string[],
): void {
  const kept = new Set([
    ...[generation, ...from].map((one) => `${one}.set`),
    ...texts.map((text) => `${generation}.${text}`),
  ])
  for (const name of readdirSync(folder)) {
    const isOurs = /^\d+(?:-\d+)?\./.test(name) || name.endsWith('.tmp')
    const isDifference = from.some((one) => name.startsWith(`${one}-${generation}.`))
    if (isOurs && !isDifference && !kept.has(name)) rmSync(join(folder, name))
  }
}

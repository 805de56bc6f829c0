// Makes the next generation of a published set in its folder (set-folder.ts): the set, its text, and
// the differences from the generations that are kept. Runs in a process of low priority.

import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { IpriskError } from '../base/coded-error.ts'
import { acquireFileLock } from '../base/system/file-lock.ts'
import { makeOwnFolder } from '../base/system/own-files.ts'
import { type ExportFile, openExportFile } from '../export/export-file.ts'
import {
  type SetLabel,
  type SetManifest,
  allPath,
  differencePath,
  readManifestSync,
  readSetSync,
  setPath,
  writeManifestSync,
} from './set-folder.ts'
import { forEachAdded, labelsMax, setRecordWords } from './set-records.ts'

const keptGenerations = 8

export interface MadeSet {
  readonly records: Uint32Array
  /** Those it was given, and new ones behind them. */
  readonly labels: readonly SetLabel[]
  /** When it must be made again from the same inputs; `Infinity` for never. */
  readonly expiresMs: number
}

export interface SetMaker {
  readonly inputs: string
  readonly form: string
  readonly make: (labels: readonly SetLabel[]) => MadeSet
  /** Appends the text of one record. */
  readonly write: (file: ExportFile, records: Uint32Array, at: number, label: SetLabel) => void
  readonly between: string
  readonly nowMs: number
}

export function isCurrent(
  folder: string,
  manifest: SetManifest | undefined,
  { inputs, form, nowMs }: Pick<SetMaker, 'inputs' | 'form' | 'nowMs'>,
): boolean {
  return (
    manifest !== undefined &&
    manifest.inputs === inputs &&
    manifest.form === form &&
    (manifest.expiresMs ?? Infinity) > nowMs &&
    existsSync(allPath(folder, manifest.generation))
  )
}

/** Throws `set_too_large`, `export_unwritable`, and `set_busy` while another process makes one. */
export function makeNextGeneration(
  folder: string,
  maker: SetMaker,
): { readonly manifest: SetManifest; readonly isNew: boolean } {
  makeOwnFolder(folder)
  const lock = acquireFileLock(join(folder, 'lock'))
  if (lock === undefined) {
    const message = `Another process makes the set in ${folder}; a later pull tries again.`
    throw new IpriskError({ code: 'set_busy', message, fault: 'environment', retryable: true })
  }
  try {
    const before = readManifestSync(folder)
    if (before !== undefined && isCurrent(folder, before, maker)) {
      return { manifest: before, isNew: false }
    }
    // Rules come and go; a policy has far fewer than the other half.
    const goesOn = before?.form === maker.form && before.labels.length < labelsMax / 2
    return makeAfter(folder, goesOn ? before : undefined, maker)
  } finally {
    lock.release()
  }
}

function makeAfter(folder: string, before: SetManifest | undefined, maker: SetMaker) {
  const { labels: known = [], generation: last = 0, series = randomUUID() } = before ?? {}
  const { records, labels, expiresMs } = maker.make(known)
  const text: Text = { ...maker, labels }
  const prefixes = records.length / setRecordWords
  const facts = { series, form: maker.form, inputs: maker.inputs, labels, prefixes, expiresMs }
  const old = before === undefined ? undefined : readSetSync(folder, last)
  const isSame = old !== undefined && Buffer.compare(bytesOf(old), bytesOf(records)) === 0
  if (before !== undefined && isSame) {
    const isWhole = existsSync(allPath(folder, last))
    if (!isWhole) writeAdded({ path: allPath(folder, last), records }, [empty, records], text)
    const manifest = { ...before, ...facts }
    writeManifestSync(folder, manifest)
    return { manifest, isNew: false }
  }
  const generation = last + 1
  const written = openExportFile(setPath(folder, generation))
  written.bytes(bytesOf(records))
  written.commit()
  writeAdded({ path: allPath(folder, generation), records }, [empty, records], text)
  const kept = before === undefined ? [] : [last, ...before.from].slice(0, keptGenerations)
  const from = kept.filter((one) => {
    const then = one === last ? old : readSetSync(folder, one)
    if (then === undefined) return false
    // A prefix whose rule alone changed is new, and not gone: bouncers delete by value and action.
    const gone = { path: differencePath(folder, [one, generation], 'gone'), records: then }
    writeAdded(gone, [byAction(records, labels), byAction(then, labels)], text)
    const came = { path: differencePath(folder, [one, generation], 'new'), records }
    writeAdded(came, [then, records], text)
    return true
  })
  const manifest = { ...facts, generation, from }
  writeManifestSync(folder, manifest)
  removeOthers(folder, manifest)
  return { manifest, isNew: true }
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

type Text = Pick<SetMaker, 'write' | 'between'> & { readonly labels: readonly SetLabel[] }

/** Writes the records that stand in `records` where `after` has what `before` lacks. */
function writeAdded(
  { path, records }: { readonly path: string; readonly records: Uint32Array },
  [before, after]: readonly [Uint32Array, Uint32Array],
  { write, between, labels }: Text,
): void {
  const file = openExportFile(path)
  try {
    let isFirst = true
    forEachAdded(before, after, (at) => {
      if (!isFirst) file.text(between)
      isFirst = false
      write(file, records, at, labels[records[at + 4]! & 0xffff]!)
    })
    file.commit()
  } finally {
    file.discard()
  }
}

const empty = new Uint32Array()

/** Those who read them have them open. */
function removeOthers(folder: string, { generation, from }: SetManifest): void {
  const isKept = (name: string): boolean =>
    name === `${generation}.all` ||
    [generation, ...from].some((one) => name === `${one}.set`) ||
    from.some((one) => name.startsWith(`${one}-${generation}.`))
  for (const name of readdirSync(folder)) {
    if (/\.(?:set|all|new|gone|tmp)$/.test(name) && !isKept(name)) rmSync(join(folder, name))
  }
}

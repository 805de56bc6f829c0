// A published set on disk, for restarts and for every worker: its newest generation, the ones before
// it that differences are kept from, and how far each key has read. The manifest is written last, so
// what it names is whole.
//
//   current.json        the manifest
//   7.set               the records of generation 7 (set-records.ts)
//   7.all 7.nft_4_…     its texts: for bouncers, or a part of a list, perhaps packed (`.gz`)
//   5-7.new 5-7.gone    the same of what came and went between generations 5 and 7
//   cursors/KEY         how far that key has read
//
// Numbers of generations count within a series, which begins where no manifest can be read: a cursor
// of another series is unknown.

import { readFileSync, rmSync, statSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { msPerDay } from '../base/day.ts'
import { namesIn } from '../base/system/atomic-file.ts'
import { makeOwnFolder, replaceOwnFile, replaceOwnFileSync } from '../base/system/own-files.ts'
import { isJsonObject, isWhole, parseJson } from '../base/json-object.ts'
import { type ListFormat, type MmdbLayoutName, mmdbLayoutNames } from '../config/export-formats.ts'
import type { Family } from '../ip/address.ts'
import { setRecordWords } from './set-records.ts'

export interface SetLabel {
  readonly action: string
  readonly rule: string
}

export interface SetManifest {
  readonly series: string
  /** 0 if the first one was refused. */
  readonly generation: number
  /** The form of its texts, such as their durations: another form begins another series. */
  readonly form: string
  /** What it was made from: until `expiresMs` the same inputs make the same set. */
  readonly inputs: string
  /** When an entry of an own list expires, milliseconds since the epoch; `null` is JSON's Infinity. */
  readonly expiresMs: number | null
  readonly prefixes: number
  /** A later request with too many prefixes: this generation stays. */
  readonly refused?: Pick<SetManifest, 'inputs' | 'form' | 'expiresMs' | 'prefixes'> | undefined
  /** How many of them are IPv4; absent in manifests of earlier versions. */
  readonly ipv4?: number
  /** How many prefixes the previous generation had; absent if none is kept. */
  readonly before?: number
  /** When this generation was made, milliseconds since the epoch. */
  readonly madeMs: number
  /** Keyed by the number that records have, in all generations of the series. */
  readonly labels: readonly SetLabel[]
  /** Generations whose differences to this one are kept, newest first. */
  readonly from: readonly number[]
}

/** `fullMs`: when the key was last sent everything. */
export interface SetCursor {
  readonly series: string
  readonly generation: number
  readonly fullMs: number
}

/** One per listener: two servers may share a state folder. */
export function setFolder(
  state: string,
  name: string,
  { host, port }: { readonly host: string; readonly port: number },
): string {
  return join(state, 'sets', `${name}-${host}-${port}`)
}

const manifestPath = (folder: string): string => join(folder, 'current.json')
export const setPath = (folder: string, generation: number): string =>
  join(folder, `${generation}.set`)
export const textPath = (folder: string, generation: number, text: string): string =>
  join(folder, `${generation}.${text}`)
/** The inverse of `textPath`; `undefined` unless it is a text of that generation. */
export function textNamed(name: string, generation: number | undefined): string | undefined {
  const before = `${generation}.`
  const isText = name.startsWith(before) && name !== `${generation}.set`
  return isText ? name.slice(before.length) : undefined
}

/** Which part of a set in which format; pages count from 1. */
export interface ListPart {
  readonly format: ListFormat
  /** For `mmdb`. */
  readonly layout: MmdbLayoutName | undefined
  readonly family: Family | undefined
  readonly page: number
  /** Prefixes; `Infinity` for all. */
  readonly pageSize: number
}

/** The name of its text: `plain_0_1_Infinity`, `nft_4_1_Infinity`, `mmdb_city_1_Infinity`. */
export const partName = ({ format, layout, family, page, pageSize }: ListPart): string =>
  [format, layout ?? family ?? 0, page, pageSize].join('_')

export function partNamed(name: string): ListPart {
  const [format, of, page, pageSize] = name.split('_')
  return {
    format: format as ListFormat,
    layout: mmdbLayoutNames.find((one) => one === of),
    family: ([4, 6] as const).find((one) => String(one) === of),
    page: Number(page),
    pageSize: Number(pageSize),
  }
}

export const differencePath = (
  folder: string,
  [from, to]: readonly [number, number],
  what: 'new' | 'gone',
): string => join(folder, `${from}-${to}.${what}`)

function manifestOf(text: string): SetManifest | undefined {
  const value = parseJson(text)
  const isSound = isJsonObject(value) && isWhole(value['generation'], 0)
  return isSound ? (value as unknown as SetManifest) : undefined
}

export async function readManifest(folder: string): Promise<SetManifest | undefined> {
  return manifestOf(await readFile(manifestPath(folder), 'utf8').catch(() => ''))
}

export function readManifestSync(folder: string): SetManifest | undefined {
  try {
    return manifestOf(readFileSync(manifestPath(folder), 'utf8'))
  } catch {
    return undefined
  }
}

export function writeManifestSync(folder: string, manifest: SetManifest): void {
  replaceOwnFileSync(manifestPath(folder), JSON.stringify(manifest))
}

/** `undefined` if it is missing or truncated. */
export function readSetSync(folder: string, generation: number): Uint32Array | undefined {
  try {
    const { buffer, byteOffset, length } = readFileSync(setPath(folder, generation))
    const bytes = buffer.slice(byteOffset, byteOffset + length)
    return length % (setRecordWords * 4) === 0 ? new Uint32Array(bytes) : undefined
  } catch {
    return undefined
  }
}

const cursorFolder = (folder: string): string => join(folder, 'cursors')

export async function readCursor(folder: string, keyId: string): Promise<SetCursor | undefined> {
  const value = parseJson(await readFile(join(cursorFolder(folder), keyId), 'utf8').catch(() => ''))
  return isJsonObject(value) ? (value as unknown as SetCursor) : undefined
}

export async function writeCursor(folder: string, keyId: string, cursor: SetCursor): Promise<void> {
  makeOwnFolder(cursorFolder(folder))
  await replaceOwnFile(join(cursorFolder(folder), keyId), JSON.stringify(cursor))
}

/** A key that starts over has nothing until it has been sent everything. */
export async function removeCursor(folder: string, keyId: string): Promise<void> {
  await rm(join(cursorFolder(folder), keyId), { force: true })
}

/** A key that pulls gets a new cursor far sooner: before half of its decisions' duration. */
const unusedMs = 60 * msPerDay

/** Removes the sets below `state` that no key has pulled for 60 days, and cursors as old. */
export function removeUnused(state: string, nowMs: number): void {
  const sets = join(state, 'sets')
  const isUnused = (path: string): boolean =>
    nowMs - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > unusedMs
  for (const folder of namesIn(sets).map((name) => join(sets, name))) {
    const cursors = cursorFolder(folder)
    const left =
      isUnused(folder) && isUnused(cursors)
        ? [folder]
        : namesIn(cursors)
            .map((name) => join(cursors, name))
            .filter(isUnused)
    for (const path of left) rmSync(path, { recursive: true, force: true })
  }
}

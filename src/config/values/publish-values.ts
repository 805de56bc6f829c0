// The text of options for publishing and pulling tables: addresses, public keys, stages.

import { parseDurationMs } from '../../base/time-text.ts'

const bucketForm = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w.=+@~/-]*))?$/

/** `undefined` if invalid. */
export function parseObjectUrl(text: string) {
  const [, bucket, prefix = ''] = bucketForm.exec(text) ?? []
  if (bucket === undefined) return undefined
  const names = prefix.split('/').filter(Boolean)
  // As path segments, dots lead elsewhere.
  const isSafe = !names.includes('.') && !names.includes('..')
  return isSafe ? { bucket, prefix: names.join('/') } : undefined
}

/** `https://…`, `http://…`, `s3://…`, `file:///…`. */
export function isTableSource(text: string): boolean {
  if (text.startsWith('s3:')) return parseObjectUrl(text) !== undefined
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash, host } = new URL(text)
  if (`${username}${password}${search}${hash}` !== '') return false
  return protocol === 'file:' ? host === '' : protocol === 'https:' || protocol === 'http:'
}

/** `s3://bucket/prefix`, or a folder. */
export function isPublishPlace(text: string): boolean {
  if (text.startsWith('s3:')) return parseObjectUrl(text) !== undefined
  return text !== '' && !text.includes('\0') && !/^[a-z]+:\/\//.test(text)
}

/** In manifests; shown on terminals and in logs as it is. */
export const placeNameForm = /^\P{C}{1,1024}$/u

/** 32 bytes in base64url. */
export const trustedKeyForm = /^ed25519:([A-Za-z0-9_-]{43})$/

/** The share of machines from this delay after publication on. */
export interface PlannedStage {
  readonly percent: number
  readonly afterMs: number
}

const stageForm = /^(\d{1,3}(?:\.\d{1,2})?)%(?:\+(\w+))?$/

/** `10%,50%+1h,100%+4h`; `undefined` if invalid or not growing. */
export function parseStages(texts: readonly string[]): readonly PlannedStage[] | undefined {
  const stages: PlannedStage[] = []
  for (const text of texts) {
    const [, digits = '', after] = stageForm.exec(text) ?? []
    const percent = Number(digits)
    const afterMs = after === undefined ? 0 : parseDurationMs(after)
    const { percent: least = 0, afterMs: earliest = 0 } = stages.at(-1) ?? {}
    if (digits === '' || percent <= least || percent > 100 || !(afterMs >= earliest))
      return undefined
    stages.push({ percent, afterMs })
  }
  return stages
}

// Decisions in the form of CrowdSec's local API (contract 6.2: bouncers), for one address and for
// the prefixes of a published set.

import type { ExportFile } from '../../export/export-file.ts'
import type { SetLabel } from '../../sets/set-folder.ts'
import { familyOf, setRecordWords } from '../../sets/set-records.ts'

export const decisionOrigin = 'lists:iprisk'

/** The policy's actions; others are the bouncer's own. */
export function decisionType(action: string): string {
  return action === 'block' ? 'ban' : action === 'challenge' ? 'captcha' : action
}

/** In the form of Go. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`
}

export interface Decision extends SetLabel {
  readonly value: string
  readonly durationMs: number
}

/** For one address. */
export const decisionJson = (id: number, decision: Decision): string =>
  `${decisionHead(id, decision)}Ip","value":"${decision.value}${decisionTail(decision)}`

function decisionHead(id: number, { action }: SetLabel): string {
  const type = JSON.stringify(decisionType(action))
  return `{"id":${id},"origin":"${decisionOrigin}","type":${type},"scope":"`
}

/** The same for all decisions of a label. */
function decisionTail({ rule, durationMs }: Pick<Decision, 'rule' | 'durationMs'>): string {
  const scenario = JSON.stringify(rule === '' ? 'iprisk' : `iprisk/${rule}`)
  return `","duration":"${durationText(durationMs)}","scenario":${scenario}}`
}

/** The decisions of a set, comma-separated: `records` as in src/sets/set-records.ts. */
export function writeDecisions(
  file: ExportFile,
  { records, labels }: { readonly records: Uint32Array; readonly labels: readonly SetLabel[] },
  durationMs: number,
): void {
  const tails = labels.map((label) => decisionTail({ ...label, durationMs }))
  for (let at = 0; at < records.length; at += setRecordWords) {
    const address = records.subarray(at, at + 4)
    const length = records[at + 4]! >>> 16
    const label = records[at + 4]! & 0xffff
    const family = familyOf(records, at)
    const isRange = length !== 128
    if (at > 0) file.text(',\n')
    file.text(`${decisionHead(idOf(records, at), labels[label]!)}${isRange ? 'Range' : 'Ip'}`)
    file.text('","value":"')
    file.address(address, family)
    if (isRange) file.text(`/${family === 4 ? length - 96 : length}`)
    file.text(tails[label]!)
  }
}

const idBits = 2 ** 32

/** The same in every generation: 53 bits of a hash, never 0. */
export function idOf(words: Uint32Array, at: number): number {
  let high = 0x811c_9dc5
  let low = 0x9e37_79b9
  for (let i = at; i < at + 5; i++) {
    high = Math.imul(high ^ words[i]!, 0x0100_0193)
    low = Math.imul(low ^ (words[i]! + high), 0x85eb_ca6b)
    low ^= low >>> 15
  }
  return ((high >>> 11) & 0x1f_ffff) * idBits + (low >>> 0) || 1
}

const filters = ['type', 'origins', 'scenarios_containing', 'scenarios_not_containing']

/** The filter that cannot be honoured, so that more would be stopped than the bouncer wants. */
export function unknownFilter(query: URLSearchParams): string | undefined {
  const scopes = (query.get('scopes') ?? 'ip,range').toLowerCase().split(',')
  if (!scopes.includes('ip') || !scopes.includes('range')) return 'scopes'
  return filters.find((name) => (query.get(name) ?? '') !== '')
}

// The part of verify-table.ts that bounds the texts of an answer, and the JSON of a network or
// place (its lists: verify-values.ts). A batch has ten thousand of each, so a table whose answers
// are long would fill the memory of who serves it, and a build makes none (src/base/clean-text.ts).

import { tableRunBytesMax, tableTextBytesMax } from '../../../base/limits.ts'
import { reasonCodeBytesMax, regionWords, runElementWords } from '../../../schema/table-layout.ts'
import type { SectionName } from '../../../schema/table-sections.ts'
import type { TableView } from '../table-view.ts'
import { tableCorrupt } from '../trailer.ts'

type Fail = (section: SectionName, element: number, why: string) => never

/** Throws by `fail`, or `table_corrupt` for the header of `path`. Runs lie in their section. */
export function verifyBounds({ views, sources }: TableView, path: string, fail: Fail): void {
  const { string_offsets: texts } = views
  for (let id = 1; id < texts.length; id++) {
    const bytes = texts[id]! - texts[id - 1]!
    if (bytes > tableTextBytesMax) fail('string_offsets', id, tooLong('a text', bytes, 'bytes'))
  }
  views.reasons.forEach((word, at) => {
    const text = word >>> 8
    const bytes = (texts[text + 1] ?? 0) - texts[text]!
    if (bytes > reasonCodeBytesMax) fail('reasons', at, tooLong('its code', bytes, 'bytes'))
  })
  const { runs, regions } = views
  for (const section of ['network_runs', 'location_runs'] as const) {
    views[section].forEach((run, id) => {
      const bytes = runs[run * runElementWords] ?? 0
      if (bytes > tableRunBytesMax) fail(section, id, tooLong('its run', bytes, 'bytes'))
    })
  }
  for (let at = 0; at < regions.length; at += regionWords) {
    for (const run of [regions[at + 4]!, regions[at + 5]!]) {
      const bytes = runs[run * runElementWords] ?? 0
      if (bytes > tableRunBytesMax) fail('regions', at, tooLong('a run of it', bytes, 'bytes'))
    }
  }
  for (const source of sources) {
    for (const text of [source.id, source.kind, source.provider, source.licence, source.homepage]) {
      const bytes = Buffer.byteLength(text)
      if (bytes <= tableTextBytesMax) continue
      throw tableCorrupt(path, 'header', 0, tooLong('a text of a source', bytes, 'bytes'))
    }
  }
}

function tooLong(what: string, count: number, unit: string): string {
  return `${what} has ${count} ${unit}, more than any answer has`
}

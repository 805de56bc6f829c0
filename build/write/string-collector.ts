// Collects the table's texts: each once, id 0 is ''. Whatever a text is made of, it is clean and
// short in the table.

import { cleanText } from '../../src/base/text/clean-text.ts'
import { newInterner } from '../layer/intern.ts'

export interface StringCollector {
  id(text: string): number
  sections(): { readonly offsets: Uint32Array; readonly bytes: Uint8Array }
}

export function newStringCollector(): StringCollector {
  const interner = newInterner<string>((text) => text, 0)
  interner.id('')
  return {
    id: (text) => interner.id(text),
    sections() {
      const encoded = interner.values.map((text) => Buffer.from(cleanText(text), 'utf8'))
      const offsets = new Uint32Array(encoded.length + 1)
      encoded.forEach((bytes, index) => {
        offsets[index + 1] = offsets[index]! + bytes.length
      })
      return { offsets, bytes: new Uint8Array(Buffer.concat(encoded)) }
    },
  }
}

// A text from a feed, a data set or a catalogue as the table has it: one line, without what steers
// a terminal or hides, and of bounded length. Names of organizations, providers and places all go
// through here, and once more every string that is written.

import { foldControls } from './control-characters.ts'
import { tableTextCharsMax } from '../limits.ts'

/** Words of Latin letters, one space between them: most texts, and nothing to clean in them. */
const clean = /^[\x21-\x7e\u00a1-\u00ac\u00ae-\u024f]+(?: [\x21-\x7e\u00a1-\u00ac\u00ae-\u024f]+)*$/

/** What is longer is cut off, between characters. A second time changes nothing. */
export function cleanText(written: string): string {
  if (written.length <= tableTextCharsMax && clean.test(written)) return written
  const text = foldControls(written).trim()
  if (text.length <= tableTextCharsMax) return text
  return text
    .slice(0, tableTextCharsMax)
    .replace(/\p{Cs}$/u, '')
    .trim()
}

// A text from a feed, a data set or a catalogue as the table has it: one line, without what steers
// a terminal or hides, and of bounded length. Names of organizations, providers and places all go
// through here, and once more every string that is written.

import { foldControls } from './control-characters.ts'
import { tableTextCharsMax } from './limits.ts'

/** What is longer is cut off, between characters. A second time changes nothing. */
export function cleanText(written: string): string {
  const text = foldControls(written).trim()
  if (text.length <= tableTextCharsMax) return text
  return text
    .slice(0, tableTextCharsMax)
    .replace(/\p{Cs}$/u, '')
    .trim()
}

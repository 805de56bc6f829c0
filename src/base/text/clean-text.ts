// A text from a feed, a data set or a catalogue as the table has it: one line, without what steers
// a terminal or hides, and of bounded length. Names of organizations, providers and places all go
// through here, and once more every string that is written.

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

/**
 * Characters that steer a terminal, or change how text reads, instead of being text: C0, DEL and C1
 * (a terminal obeys them), line and paragraph separators, halves of surrogate pairs, and format
 * characters (controls of direction, invisible tags, also those not assigned, zero-width spaces).
 * The two joiners are text: Persian, Indic scripts and emoji need them.
 *
 * Text for people shows them (`escapeControls`, `escapeLines`), so that nothing is hidden from who
 * looks for it; texts of the table are without them (`foldControls`), so that answers are.
 */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u{E0000}-\u{E007F}]|(?![\u200C\u200D])\p{Cf}/gu
const formats = /[\u{E0000}-\u{E007F}]|(?![\u200C\u200D])\p{Cf}/gu
const halves = /\p{Cs}/gu

/** Each as JSON writes it, `\u001b`: JSON stays JSON and equal, for it has them in texts alone. */
export function escapeControls(text: string): string {
  return text.replaceAll(controls, escapeCharacter)
}

/** The same of whole lines: line feeds stay. */
export function escapeLines(text: string): string {
  return text.replaceAll(controls, (character) =>
    character === '\n' ? character : escapeCharacter(character),
  )
}

function escapeCharacter(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/**
 * Text of one line without them: format characters go, for they may stand inside a word, half of a
 * pair becomes U+FFFD, and what separates words one space.
 */
export function foldControls(text: string): string {
  return text
    .replaceAll(halves, '\uFFFD')
    .replaceAll(formats, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
}

// Takes characters off the end of a text. Not by an expression such as /,+$/, which begins a search
// at every comma of the text: 64 KiB of commas with a letter behind take it six seconds.

/** `text` without those of `characters` that it ends with. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

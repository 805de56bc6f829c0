// A text from a feed, a data set or a catalogue as the table has it: one line, bounded, without
// what steers a terminal or hides. Every string that is written goes through here.

import { tableTextCharsMax } from '../limits.ts'

/** Latin words with one space between them: nothing to clean. */
const clean = /^[\x21-\x7e\u00a1-\u00ac\u00ae-\u024f]+(?: [\x21-\x7e\u00a1-\u00ac\u00ae-\u024f]+)*$/

/** Cuts between characters. Idempotent. */
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
 * Characters that steer a terminal, or change how text reads: C0, DEL and C1, line and paragraph
 * separators, halves of surrogate pairs, and format characters (controls of direction, invisible
 * tags, zero-width spaces). The two joiners are text: Persian, Indic scripts and emoji need them.
 * Text for people escapes them (`escapeControls`, `escapeLines`), the table drops them
 * (`foldControls`).
 */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u{E0000}-\u{E007F}]|(?![\u200C\u200D])\p{Cf}/gu
const formats = /[\u{E0000}-\u{E007F}]|(?![\u200C\u200D])\p{Cf}/gu
const halves = /\p{Cs}/gu

/** As JSON writes them, `\u001b`: JSON stays equal JSON. */
export function escapeControls(text: string): string {
  return text.replaceAll(controls, escapeCharacter)
}

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

/** Format characters go, half of a pair becomes U+FFFD, and what separates words one space. */
export function foldControls(text: string): string {
  return text
    .replaceAll(halves, '\uFFFD')
    .replaceAll(formats, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
}

// Not by an expression such as /,+$/, which begins a search at every comma: 64 KiB of commas with a
// letter behind take it six seconds.

/** `text` without those of `characters` that it ends with. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

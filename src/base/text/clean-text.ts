// Cleans texts of feeds, data sets and catalogues for the table: one line, bounded, without
// characters that control a terminal or hide.

import { tableTextCharsMax } from '../limits.ts'

/** Latin words with single spaces need no cleaning. */
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
 * Characters that control a terminal or change how text reads: C0, DEL and C1, line and paragraph
 * separators, lone surrogates, and format characters (direction, invisible tags, zero-width
 * spaces). The two joiners are text: Persian, Indic scripts and emoji need them. Text for people
 * escapes them, the table drops them.
 */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u{E0000}-\u{E007F}]|(?![\u200C\u200D])\p{Cf}/gu
const formats = /[\u{E0000}-\u{E007F}]|(?![\u200C\u200D])\p{Cf}/gu
const halves = /\p{Cs}/gu

/** As in JSON, `\u001b`: JSON stays equal JSON. */
export const escapeControls = (text: string): string => text.replaceAll(controls, escapeCharacter)

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

/** Drops format characters; lone surrogates become U+FFFD, white space and controls one space. */
export function foldControls(text: string): string {
  return text
    .replaceAll(halves, '\uFFFD')
    .replaceAll(formats, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
}

/**
 * `text` without trailing `characters`. Not by /,+$/, which restarts at every comma: six seconds for
 * 64 KiB of them.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

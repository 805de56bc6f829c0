// What no output for people may hold, and texts that hold it.

/** Each does something to a terminal or to the order of text; line feeds apart. */
export const steering =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu

/** Where it stands: the characters with a few around each; line feeds that end lines are fine. */
export function steeringIn(text: string): readonly string[] {
  return [...text.matchAll(steering)]
    .filter(([found]) => found !== '\n')
    .map(({ index }) => JSON.stringify(text.slice(Math.max(0, index - 20), index + 20)))
}

/** Begins no line of an output, unless a break that was quoted came through. */
export const forged = 'iprisk: FORGED'

/** A title, a cleared screen, a sequence of C1, reversed text, invisible text, forged lines. */
export const hostile = [
  '\u001B]0;title\u0007',
  '\u001B[2J\u001B[31m',
  '\u009B31m\u0090q\u009C',
  '\u202Etxt.exe\u202C\u2066x\u2069\u061C\u200F',
  '\u{E0041}\u{E0042}\u200B\uFEFF',
  `\r${forged}`,
  `\n${forged}`,
  `\u0085${forged}\u2028${forged}`,
  '\b\b\u007F\0\uD800',
].join('|')

/** As UTF-8 has it. */
export const wellFormed = (text: string): string => Buffer.from(text).toString()

/** What may stand in a name of a file or an argument: all but NUL. */
export const hostileName = wellFormed(hostile.replaceAll('\0', ''))

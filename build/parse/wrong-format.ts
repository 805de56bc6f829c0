// The one error of a parser: the file as a whole is not of its format. Single bad entries are
// drops, never errors.

import { IpriskError } from '../../src/base/coded-error.ts'

/** Samples of foreign text in messages and reports: enough to recognise, no more. */
export const sampleCharactersMax = 80

/** Cuts `text` to a sample of one printable line: control characters become `\u0007`. */
export function printableSample(text: string): string {
  const cut = text.slice(0, sampleCharactersMax)
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for.
  const printable = cut.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return printable.length > sampleCharactersMax
    ? printable.slice(0, sampleCharactersMax)
    : printable
}

/** `not_this_format`: `line 1 looks like HTML: <!doctype html>`. */
export function wrongFormat(place: string, why: string, sample = ''): IpriskError {
  const shown = sample === '' ? '' : `: ${printableSample(sample)}`
  return new IpriskError({
    code: 'not_this_format',
    message: `${place} ${why}${shown}`,
    fault: 'input',
  })
}

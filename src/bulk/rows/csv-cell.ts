// A text as a cell of CSV (RFC 4180), guarded: a spreadsheet takes a text that begins with `=`,
// `+`, `-` or `@` for a formula and runs it, and what names a network or a line of a log is
// anybody's. Such a text gets a `'` in front, by which spreadsheets know a text (OWASP, CSV
// Injection). Never for numbers, whose `-` is their sign.
//
//   =1+1           '=1+1          one `'` more, and the reader takes one away again
//   '=1+1          ''=1+1
//   's-Gravenhage  's-Gravenhage  no formula behind it: as it is
//
// The inverse: where a cell's text has the form below and begins with `'`, that one goes.

/** Also the wide forms, which some spreadsheets read alike, and what a reader may skip. */
const formula = /^['\s]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20\p{Cc}]/u

/** In quotes where RFC 4180 demands them. */
export function csvCell(text: string): string {
  const guarded = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

// A text as a cell of CSV (RFC 4180), guarded against formulas (OWASP, CSV Injection): a
// spreadsheet runs a text that begins with `=`, `+`, `-` or `@`, and anyone can choose the name of
// a network or write a line of a log. Such a text is prefixed with `'`, which marks text in
// spreadsheets. Not for numbers, which may begin with `-`.
//
//   =1+1           '=1+1          one more `'`, which a reader removes again
//   '=1+1          ''=1+1
//   's-Gravenhage  's-Gravenhage  no formula after it: unchanged

/** Also fullwidth forms, which some spreadsheets accept, and characters that a reader may skip. */
const formula = /^['\s]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20\p{Cc}]/u

export function csvCell(text: string): string {
  const guarded = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

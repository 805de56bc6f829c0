// In which form the tests run. `npm test` is the short one: a test that draws, kills or repeats
// does so often enough to fail where the code is wrong. `npm run test:all` runs the files that
// import this one once more, in full; `npm run prove -- NAME --long` runs some with ten times the
// cases. Nothing else may ask for the form, or the two commands would not add up.

export type Form = 'short' | 'full' | 'long'

const asked = process.env['IPRISK_TEST_FORM']
export const form: Form = asked === 'full' || asked === 'long' ? asked : 'short'

interface Forms<T> {
  readonly short: T
  readonly full: T
  /** By default that of `full`. */
  readonly long?: T
}

/** What a test takes in the form that it runs in. */
export function inForm<T>(forms: Forms<T>): T {
  return forms[form] ?? forms.full
}

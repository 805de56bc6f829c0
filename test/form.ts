// In which form the tests run. `npm test` is the short one: a test that draws, kills or repeats does
// so often enough to fail where the code is wrong. `npm run test:all` runs the files that import this
// one once more, in full. Nothing else may ask for the form, or the two would not add up.

export type Form = 'short' | 'full'

export const form: Form = process.env['IPRISK_TEST_FORM'] === 'full' ? 'full' : 'short'

/** What a test takes in the form that it runs in. */
export function inForm<T>(forms: Readonly<Record<Form, T>>): T {
  return forms[form]
}

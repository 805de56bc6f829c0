// Tests as proofs: those that are too long for every run, in their long form. They run as `npm
// run test:all` runs them, but one file after the other.
// What they print of their figures becomes the facts; a failed test is a fault.

import { startVitest } from 'vitest/node'
import { packageRoot } from '../../src/base/package-root.ts'
import type { Form, Proof, ProofContext, ProofResult } from '../harness/proof.ts'

/** Lines of other things than figures. */
const isFigure = (line: string): boolean => /\d/.test(line) && !line.startsWith('{')

/** Runs these files as a proof, with `environmentOf` its form. */
export function inTests(
  files: readonly string[],
  environmentOf: (form: Form) => Readonly<Record<string, string>> = () => ({}),
): Proof['run'] {
  return (context) => runTests(context, files, environmentOf(context.form))
}

async function runTests(
  { say, form }: ProofContext,
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProofResult> {
  const figures: string[] = []
  const hear = (text: string): void => {
    for (const line of text.trim().split('\n').filter(isFigure)) {
      figures.push(line)
      say(line)
    }
  }
  const vitest = await startVitest('test', [...files], {
    run: true,
    watch: false,
    config: false,
    root: packageRoot,
    include: [...files],
    env: { IPRISK_TEST_FORM: form === 'long' ? 'long' : 'full', ...environment },
    fileParallelism: false,
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    reporters: [{ onUserConsoleLog: ({ content }) => hear(content) }],
  })
  const tests = vitest.state.getTestModules().flatMap((file) => [...file.children.allTests()])
  const broken = vitest.state.getTestModules().flatMap((file) => file.errors())
  await vitest.close()
  // Vitest says by it that a test has failed; the faults say it here.
  process.exitCode = undefined
  const passed = tests.filter((test) => test.result().state === 'passed')
  const failed = tests.filter((test) => test.result().state === 'failed')
  const faults = failed.map((test) => `${test.fullName}: ${test.result().errors?.[0]?.message}`)
  if (passed.length === 0) faults.push('No test has passed.')
  return {
    facts: {
      'tests that passed': passed.length,
      said: figures,
    },
    faults: [...faults, ...broken.map(({ message }) => message)],
  }
}

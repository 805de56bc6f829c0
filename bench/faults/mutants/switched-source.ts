// A source file that holds mutants and runs as written until one is switched on: every drawn place
// becomes a choice by the number of the mutant. So one copy is compiled once and serves all
// mutants, in servers and threads too, and a first run tells which tests come past which place.

import type { Mutant } from './find-mutants.ts'

export interface NumberedMutant extends Mutant {
  readonly id: number
}

/** The text with its mutants behind switches; `switchFile` holds the number of the one that is on. */
export function switchedSource(
  text: string,
  mutants: readonly NumberedMutant[],
  switchFile: string,
): string {
  return `${render(text, 0, text.length, mutants)}\n${switchText(switchFile)}\n`
}

function render(
  text: string,
  start: number,
  end: number,
  mutants: readonly NumberedMutant[],
): string {
  const inside = mutants
    .filter(({ whole }) => whole.start >= start && whole.end <= end)
    .toSorted((a, b) => a.whole.start - b.whole.start || b.whole.end - a.whole.end)
  let rendered = ''
  let at = start
  for (const mutant of inside) {
    const { whole } = mutant
    if (whole.start < at) continue
    const others = inside.filter((other) => other !== mutant)
    rendered += text.slice(at, whole.start) + choice(text, mutant, others)
    at = whole.end
  }
  return rendered + text.slice(at, end)
}

function choice(text: string, mutant: NumberedMutant, others: readonly NumberedMutant[]): string {
  const { id, kind, token, whole, before, after } = mutant
  if (kind === 'value') return `(__mutant(${id}) ? ${after} : ${before})`
  if (kind === 'exit') {
    return `{ if (!__mutant(${id})) ${render(text, whole.start, whole.end, others)} }`
  }
  const left = render(text, whole.start, token.start, others)
  const right = render(text, token.end, whole.end, others)
  return `(__mutant(${id}) ? ${left}${after}${right} : ${left}${before}${right})`
}

/**
 * A function declaration, so that it is there before any line of its module runs. While the switch
 * says `record` it notes each place with the test file that came past it, once a process; what a
 * test's own limit of file sizes keeps from being noted, at the next time.
 */
function switchText(switchFile: string): string {
  return `function __mutant(id) {
  const state = (globalThis.mutantSwitch ??= (() => {
    const fs = globalThis.process?.getBuiltinModule?.('node:fs')
    let on = ''
    try { on = fs.readFileSync(${JSON.stringify(switchFile)}, 'utf8') } catch {}
    return { fs, on: Number(on), record: on === 'record', seen: new Set() }
  })())
  if (state.record) {
    const file = globalThis.__vitest_worker__?.filepath ?? process.env.MUTANT_TEST_FILE
    const row = id + '\\t' + file + '\\n'
    if (!state.seen.has(row)) {
      try {
        state.fs.appendFileSync(${JSON.stringify(`${switchFile}.seen`)}, row)
        state.seen.add(row)
      } catch {}
    }
  }
  return state.on === id
}`
}

// What a long proof is, so that adding one is adding a row to all.ts: what it shows, about
// how long it takes, and a function that tries it for real. A proof measures and reports; a fault
// is anything that contradicts what it shows. Not here: what stays of a run (report.ts).

/** How long a form runs; `ci` is what `npm test` calls, about ten seconds. */
export type Form = 'ci' | 'short' | 'long'

export interface ProofContext {
  readonly form: Form
  /** Empty, its own, on a real disk; removed afterwards. */
  readonly folder: string
  /** The shared feeds: `<feed-id>/<file>`, `feeds.json`, `history/`. */
  readonly feeds: string
  /** A table of the world that was named, for proofs that can make use of one. */
  readonly table?: string
  /** What a proof draws that draws a sample; a count of 0 is that of its form. */
  readonly draw?: {
    readonly count?: number
    readonly seed?: number
    readonly only?: string | undefined
  }
  readonly say: (line: string) => void
}

/** A figure by what it is, as rows of the report; several of one kind are a list. */
export type Facts = Record<string, string | number | readonly string[]>

export interface ProofResult {
  /** What was tried and found. */
  readonly facts: Readonly<Facts>
  /** One line each; a proof without any holds. */
  readonly faults: readonly string[]
}

export interface Proof {
  readonly name: string
  /** One sentence that a run could contradict. */
  readonly shows: string
  /** About how many minutes, on two cores. */
  readonly minutes: Readonly<Record<'short' | 'long', number>>
  /** Whether it needs the shared feeds. */
  readonly needsFeeds?: true
  readonly run: (context: ProofContext) => Promise<ProofResult>
}

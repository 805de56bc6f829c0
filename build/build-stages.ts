// Stages of a build: how long each took and how much memory the process held at its end, for the
// report, and one line for a person who watches.

export interface BuildStage {
  readonly name: string
  /** Wall-clock seconds, rounded to milliseconds. */
  readonly seconds: number
  readonly residentBytes: number
  readonly peakBytes: number
}

export type BuildStages = ReturnType<typeof newBuildStages>

/** `tell` gets what a person should see: a stage that begins, and what came of it. */
export function newBuildStages(tell: OnBuildProgress) {
  const done: BuildStage[] = []
  return {
    done: done as readonly BuildStage[],
    /** Runs `work` as stage `name`; `say` may be called to describe what it found. */
    async run<T>(name: string, work: (say: (text: string) => void) => T | Promise<T>): Promise<T> {
      const begun = performance.now()
      let found = ''
      tell({ kind: 'begin', name })
      const result = await work((text) => {
        found = text
      })
      const seconds = Math.round(performance.now() - begun) / 1000
      done.push({ name, seconds, residentBytes: process.memoryUsage.rss(), peakBytes: peakBytes() })
      tell({ kind: 'end', name, seconds, found })
      return result
    },
  }
}

export type OnBuildProgress = (event: BuildProgress) => void

export type BuildProgress =
  | { readonly kind: 'begin'; readonly name: string }
  | {
      readonly kind: 'end'
      readonly name: string
      readonly seconds: number
      readonly found: string
    }
  | { readonly kind: 'step'; readonly text: string }
  | { readonly kind: 'warn'; readonly text: string }

/** Peak resident memory of this process so far, bytes. */
export function peakBytes(): number {
  // maxRSS is in kilobytes on every system that Node 20 runs on.
  return process.resourceUsage().maxRSS * 1024
}

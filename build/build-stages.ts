// Build stages: time and memory of each for the report, and progress for the terminal.

export interface BuildStage {
  readonly name: string
  readonly seconds: number
  readonly residentBytes: number
  readonly peakBytes: number
}

export type BuildStages = ReturnType<typeof newBuildStages>

export function newBuildStages(tell: OnBuildProgress) {
  const done: BuildStage[] = []
  return {
    done: done as readonly BuildStage[],
    /** `say` describes what the stage found. */
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

/** Peak resident memory so far. */
export function peakBytes(): number {
  // maxRSS is in kilobytes on every system.
  return process.resourceUsage().maxRSS * 1024
}

// A build's progress: one live line a stage on a terminal; in a pipe a plain line a stage, and
// every five seconds one that says how far a stage is.

import type { Io } from '../terminal/io.ts'
import { newLiveStage } from '../terminal/live-stage.ts'

/** What a build says of itself (build/build-stages.ts). */
type Progress =
  | { readonly kind: 'begin'; readonly name: string }
  | {
      readonly kind: 'end'
      readonly name: string
      readonly seconds: number
      readonly found: string
    }
  | { readonly kind: 'step'; readonly text: string }
  | { readonly kind: 'warn'; readonly text: string }

const stepMs = 5000

/** `now`: milliseconds; a clock for tests. */
export function newProgress(io: Io, now = () => performance.now()): (event: Progress) => void {
  return io.errIsTerminal ? liveProgress(io) : plainProgress(io, now)
}

function plainProgress(io: Io, now: () => number): (event: Progress) => void {
  let name = ''
  let saidMs = now()
  return (event) => {
    if (event.kind === 'warn') io.err(`warning: ${event.text}`)
    else if (event.kind === 'end') io.err(endLine(event))
    else if (event.kind === 'begin') name = event.name
    else {
      if (now() - saidMs < stepMs) return
      io.err(`${name}: ${event.text}`)
    }
    saidMs = now()
  }
}

function liveProgress(io: Io): (event: Progress) => void {
  const live = newLiveStage()
  let name = ''
  return (event) => {
    if (event.kind === 'begin') live.start((name = event.name))
    else if (event.kind === 'step') live.message(`${name}: ${event.text}`)
    else if (event.kind === 'end') live.stop(endLine(event))
    else io.err(`warning: ${event.text}`)
  }
}

function endLine(event: {
  readonly name: string
  readonly seconds: number
  readonly found: string
}): string {
  const found = event.found === '' ? '' : `: ${event.found}`
  return `${event.name}${found} (${event.seconds.toFixed(1)} s)`
}

// A build's progress: one live line a stage on a terminal, plain lines in a pipe.

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
  | { readonly kind: 'warn'; readonly text: string }

export function newProgress(io: Io): (event: Progress) => void {
  return io.errIsTerminal ? liveProgress(io) : plainProgress(io)
}

function plainProgress(io: Io): (event: Progress) => void {
  return (event) => {
    if (event.kind === 'warn') io.err(`warning: ${event.text}`)
    else if (event.kind === 'end') io.err(endLine(event))
  }
}

function liveProgress(io: Io): (event: Progress) => void {
  const live = newLiveStage()
  return (event) => {
    if (event.kind === 'begin') live.start(event.name)
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

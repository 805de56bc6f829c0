// A build's stage as a live line on a terminal. The only home of @clack/prompts.

import { spinner } from '@clack/prompts'
import { escapeControls } from '../../base/text/clean-text.ts'

export interface LiveStage {
  readonly start: (text: string) => void
  readonly message: (text: string) => void
  readonly stop: (text: string) => void
}

export function newLiveStage(): LiveStage {
  const live = spinner({ output: process.stderr })
  return {
    start: (text) => live.start(escapeControls(text)),
    message: (text) => live.message(escapeControls(text)),
    stop: (text) => live.stop(escapeControls(text)),
  }
}

// A build's stage as a live line on a terminal. The only home of @clack/prompts.

import { spinner } from '@clack/prompts'
import { escapeControls } from '../../base/text/clean-text.ts'

export function newLiveStage() {
  const live = spinner({ output: process.stderr })
  return {
    start: (text: string) => live.start(escapeControls(text)),
    message: (text: string) => live.message(escapeControls(text)),
    stop: (text: string) => live.stop(escapeControls(text)),
  }
}

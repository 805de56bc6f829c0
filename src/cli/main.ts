#!/usr/bin/env node
// The program `iprisk`: the command line with this process's arguments, streams and exit code. What
// `iprisk serve` waits for longest is the process that verifies its table: it starts before all
// else. `iprisk start` may have to make a table first.

import { startVerifyingAhead } from '../supervisor/tables/verify-process.ts'
import { endBySignals } from './terminal/process-io.ts'

const words = process.argv.slice(2)
if (process.pid === 1) endBySignals()
// A server that takes over lets the one that answers go first.
if (words[0] === 'serve' && !words.includes('--takeover')) startVerifyingAhead()

const { runCommandLine } = await import('./run-command-line.ts')
const { processIo } = await import('./terminal/process-io.ts')
process.exitCode = await runCommandLine(words, processIo())

#!/usr/bin/env node
// The program `iprisk`.

import { ignoreDebuggerSignal } from '../base/system/debugger-signal.ts'
import { runCommandLine } from './run-command-line.ts'
import { endBySignals, processIo } from './terminal/process-io.ts'

ignoreDebuggerSignal()
// With a lax umask, every user could write to our files.
process.umask(process.umask(0o022) | 0o002)
if (process.pid === 1) endBySignals()
process.exitCode = await runCommandLine(process.argv.slice(2), processIo())

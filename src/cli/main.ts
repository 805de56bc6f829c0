#!/usr/bin/env node
// The program `iprisk`: the command line with this process's arguments, streams and exit code.

import { ignoreDebuggerSignal } from '../base/system/debugger-signal.ts'
import { runCommandLine } from './run-command-line.ts'
import { endBySignals, processIo } from './terminal/process-io.ts'

ignoreDebuggerSignal()
if (process.pid === 1) endBySignals()
process.exitCode = await runCommandLine(process.argv.slice(2), processIo())

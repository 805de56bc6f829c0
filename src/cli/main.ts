#!/usr/bin/env node
// The program `iprisk`: the command line with this process's arguments, streams and exit code.

import { ignoreDebuggerSignal } from '../base/system/debugger-signal.ts'
import { runCommandLine } from './run-command-line.ts'
import { endBySignals, processIo } from './terminal/process-io.ts'

ignoreDebuggerSignal()
// No umask lets everybody write to what this and its child processes make.
process.umask(process.umask(0o022) | 0o002)
if (process.pid === 1) endBySignals()
process.exitCode = await runCommandLine(process.argv.slice(2), processIo())

#!/usr/bin/env node
// The program `iprisk`: the command line with this process's arguments, streams and exit code.

import { runCommandLine } from './run-command-line.ts'
import { processIo } from './terminal/process-io.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), processIo())

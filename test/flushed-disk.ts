// Before each file and each test that holds a server to a time: what earlier tests wrote goes to the
// disk. Behind gigabytes of tables a server that starts in 2 s took 7 to 10.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, beforeEach } from 'vitest'

const run = promisify(execFile)
const flush = async (): Promise<void> => void (await run('sync'))

beforeAll(flush, 120_000)
beforeEach(flush, 120_000)

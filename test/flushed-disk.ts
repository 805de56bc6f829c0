// Before each test that holds a server to a time: what earlier tests wrote goes to the disk. Behind
// gigabytes of tables a server that starts in 2 s took 7 to 10.

import { execFileSync } from 'node:child_process'
import { beforeEach } from 'vitest'

beforeEach(() => {
  execFileSync('sync')
}, 120_000)

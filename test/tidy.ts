// Runs anew for each file of tests (vitest.config.ts): its hooks end what shared modules began.
// Hooks run in the reverse of their order: those of the file itself come first.

import { afterAll, afterEach } from 'vitest'
import { endAll } from './ends.ts'

afterEach(() => endAll('test'))
afterAll(() => endAll('file'))

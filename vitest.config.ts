import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { form } from './test/form.ts'
import { filesAlone, filesWithForms, serverFiles, unitFiles, worldFiles } from './test/kinds.ts'
import { LongestFirst } from './test/sequence.ts'
import { summary } from './test/summary.ts'

// A project a kind of test (test/kinds.ts). `unit` runs from source; `server` and `world` run
// programs from dist/, for Node 20 runs no TypeScript. `npm test` runs unit and server; `npm run
// test:all` runs world, and in full what has a short form. Files run side by side, but for those
// below.

// What these hold to a time would fail beside another file: they have the cores while they run.
const isTimed = (file: string): boolean =>
  /\/(lives|limits-kill|limiter|settings-effect|many-machines|failover|store|client-proofs)\.(server|world)\.test\.ts$/.test(
    file,
  )

const ofForm = (files: readonly string[]): string[] =>
  files.filter((file) => form === 'short' || filesWithForms.includes(file))

// Vitest by itself keeps a core for its own: on two cores nothing would run side by side. One more
// than there are cores, for servers and builds are also waited for.
const sideBySide = { maxWorkers: Math.max(2, availableParallelism() - 1) + 1 }
// Modules that many files of one process share end with each of them what it began.
// Copies of tables that tests open do not go where those of the developer's programs are.
const env = { XDG_CACHE_HOME: join(tmpdir(), 'iprisk-test-cache') }
const tidy = { setupFiles: ['test/tidy.ts'], env }
const alone = {
  fileParallelism: false,
  setupFiles: [...tidy.setupFiles, 'test/flushed-disk.ts'],
}
const quick = { testTimeout: 60_000, hookTimeout: 120_000 }
const slow = { testTimeout: 180_000, hookTimeout: 300_000 }
// Whose hook waits for a world table waits for its build.
const slowest = { testTimeout: 300_000, hookTimeout: 900_000 }

// One process runs one file of `unit`, or of `server`, after the other, for starting anew costs
// more than most of them take. Those that change modules for others, or count memory, have a
// process of their own.
const isAlone = (file: string): boolean => filesAlone.includes(file)

// A machine that others share stops for a while now and then, and a test that waits for servers,
// stores and their times has a second try in CI. The end of the run names each (test/summary.ts).
// What must hold in every interleaving of processes has one try alone.
const isExact = (file: string): boolean =>
  /\/(limits-kill|limiter|many-machines|failover)\.(server|world)\.test\.ts$/.test(file)
const isWaiting = (name: string): boolean => !/^unit|exact$/.test(name)
const triesAgain = process.env['CI'] === undefined ? {} : { retry: 1 }

// What was compiled runs as it does for users.
const compiledAsItIs = { server: { deps: { external: [/\/dist\//] } } }

const unit = ofForm(unitFiles)
const server = ofForm(serverFiles)
const projects = [
  {
    name: 'unit',
    include: unit.filter((file) => !isAlone(file)),
    isolate: false,
    ...sideBySide,
    ...(form === 'short' ? quick : slow),
  },
  {
    name: 'unit-alone',
    include: unit.filter(isAlone),
    ...sideBySide,
    ...(form === 'short' ? quick : slow),
  },
  {
    name: 'server',
    include: server.filter((file) => !isTimed(file)),
    isolate: false,
    ...sideBySide,
    ...slow,
  },
  {
    name: 'world',
    include: worldFiles.filter((file) => !isTimed(file)),
    ...sideBySide,
    ...slowest,
  },
  { name: 'server-timed', include: server.filter(isTimed), ...alone, ...slow },
  {
    name: 'world-timed',
    include: worldFiles.filter((file) => isTimed(file) && !isExact(file)),
    ...alone,
    ...slowest,
  },
  { name: 'world-exact', include: worldFiles.filter(isExact), ...alone, ...slowest },
]

export default defineConfig({
  test: {
    reporters: ['default', summary],
    // A module is transformed once for all projects and runs, until its bytes change.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
    // Those that run alone do so behind all others, which run together.
    projects: projects.map((test) => ({
      test: { ...tidy, ...test, ...compiledAsItIs, ...(isWaiting(test.name) ? triesAgain : {}) },
    })),
  },
})

import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { summary } from './test/summary.ts'

// Three projects, one after the other. `unit` runs from source. `program` runs programs from dist/
// (Node 20 runs no TypeScript) and reads the world tables: nothing in it is held to a time, so its
// files run side by side. `process` starts servers and threads that are, and is serial: a test there
// has the cores while it runs.
const never = ['dist/**', 'node_modules/**']
const program = [
  'test/world-*.process.test.ts',
  'test/{account/{redis,uses},hostile/{caps,disk,framing}}.process.test.ts',
  'test/server/{canary,doctor,exposure,framing,http,store-canary}.process.test.ts',
  'test/{bench,cli,deploy,fetch,gate,golden,history,measure,oracle,table}/**/*.process.test.ts',
]
// Vitest by itself keeps a core for its own: on two cores nothing would run side by side.
const sideBySide = { maxWorkers: Math.max(2, availableParallelism() - 1) }
const slow = { testTimeout: 180_000, hookTimeout: 300_000 }

export default defineConfig({
  test: {
    reporters: ['default', summary],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...never, 'test/**/*.process.test.ts'],
          sequence: { groupOrder: 0 },
          ...sideBySide,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'program',
          include: program,
          exclude: never,
          globalSetup: ['test/world/world.setup.ts'],
          sequence: { groupOrder: 1 },
          ...sideBySide,
          ...slow,
        },
      },
      {
        test: {
          name: 'process',
          include: ['test/**/*.process.test.ts'],
          exclude: [...never, ...program],
          globalSetup: ['test/world/world.setup.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...slow,
        },
      },
    ],
  },
})

import { defineConfig } from 'vitest/config'
import { summary } from './test/summary.ts'

// Three projects, one after the other. `unit` runs from source. `compiler` runs the command line
// from dist/ and reads the world tables: it owns no port and tells no time, so its files run side by
// side. `process` starts real servers and threads from dist/ (Node 20 runs no TypeScript) and is
// serial: tests there own ports and cores while they run.
const never = ['dist/**', 'node_modules/**']
const compiler = [
  'test/world-*.process.test.ts',
  'test/{cli,fetch,gate,golden,history,measure,oracle,table}/**/*.process.test.ts',
]
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
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'compiler',
          include: compiler,
          exclude: never,
          globalSetup: ['test/world.setup.ts'],
          sequence: { groupOrder: 1 },
          ...slow,
        },
      },
      {
        test: {
          name: 'process',
          include: ['test/**/*.process.test.ts'],
          exclude: [...never, ...compiler],
          globalSetup: ['test/world.setup.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          ...slow,
        },
      },
    ],
  },
})

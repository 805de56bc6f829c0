import { defineConfig } from 'vitest/config'
import { summary } from './test/summary.ts'

// Two projects. `unit` runs from source, in parallel. `process` starts real servers, threads and
// command lines from dist/ (Node 20 runs no TypeScript), so it is serial: tests there own ports and
// cores while they run.
export default defineConfig({
  test: {
    reporters: ['default', summary],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['dist/**', 'node_modules/**', 'test/**/*.process.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'process',
          include: ['test/**/*.process.test.ts'],
          exclude: ['dist/**', 'node_modules/**'],
          globalSetup: ['test/world.setup.ts'],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})

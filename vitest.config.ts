import { defineConfig } from 'vitest/config'
import { slowestFiles } from './test/support/slowest-files.js'

// Three forks at most: the machines this runs on have two cores, and many tests wait for other processes.
export default defineConfig({
  test: {
    include: ['test/{unit,golden,integration,e2e}/**/*.test.ts'],
    reporters: ['default', slowestFiles],
    setupFiles: ['test/support/recorded-traffic.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/support/api-traffic-setup.ts'],
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test that hangs is a failure, not a wait: these are guards, never measurements.
    teardownTimeout: 20_000,
  },
})

import { defineConfig } from 'vitest/config'
import { slowestFiles } from './test/support/runner/slowest-files.js'
import { waitingFirst } from './test/support/runner/waiting-first.js'

// Two forks for each of the two cores of the machines this runs on, since many tests wait for other processes.
export default defineConfig({
  test: {
    include: ['test/{unit,golden,integration,e2e}/**/*.test.ts'],
    reporters: ['default', slowestFiles],
    setupFiles: ['test/support/api/recorded-traffic.ts', 'test/support/runner/file-end.ts'],
    globalSetup: ['test/support/runner/global-setup.ts', 'test/support/api/api-traffic-setup.ts'],
    pool: 'forks',
    // Most of what tests run is called too seldom to repay an optimised form: the V8 of Node 20 makes it later, others lack the option.
    // Processes that share two cores gain nothing from threads that collect garbage, and little from collecting it early.
    execArgv: [
      ...(process.versions.v8.startsWith('11.') ? ['--interrupt-budget=1000000'] : []),
      ...['--single-threaded-gc', '--max-semi-space-size=32', '--initial-old-space-size=256'],
    ],
    // Loading the program again for each of two hundred files takes longer than most of them: files leave nothing behind.
    isolate: false,
    maxWorkers: 4,
    sequence: {
      sequencer: waitingFirst([
        'test/integration/work/postgres.test.ts',
        'test/integration/money/payments/conformance.test.ts',
        'test/e2e/start.test.ts',
      ]),
    },
    testTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 60_000,
    // A test that hangs is a failure, not a wait: these are guards, never measurements.
    teardownTimeout: 20_000,
  },
})

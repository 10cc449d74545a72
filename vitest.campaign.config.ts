import { defineConfig } from 'vitest/config'

// The full numbers; `npm test` has short versions of the same cases. Two files at a time: each starts processes of its own.
export default defineConfig({
  test: {
    include: [
      'test/campaign/**/*.test.ts',
      'test/integration/portal/browser.test.ts',
      'test/integration/money/payments/conformance.test.ts',
    ],
    env: { PORTAL_WAYS: 'all', CONFORMANCE_KILLS: 'all' },
    setupFiles: ['test/support/api/recorded-traffic.ts', 'test/support/runner/file-end.ts'],
    globalSetup: [
      'test/support/runner/global-setup.ts',
      'test/support/api/api-traffic-setup.ts',
      'test/campaign/support/table.ts',
    ],
    pool: 'forks',
    // A large release hashes its files in a thread, which loads our sources by itself.
    execArgv: ['--import', './test/support/runner/register-typescript.mjs'],
    maxWorkers: 2,
    // Guards against a hang, never measurements.
    testTimeout: 900_000,
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 900_000,
    teardownTimeout: 30_000,
  },
})

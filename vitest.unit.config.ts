import { defineConfig } from 'vitest/config'

// The pure rooms: no database, no network, seconds.
export default defineConfig({
  test: {
    include: ['test/{unit,golden}/**/*.test.ts'],
    setupFiles: ['test/support/runner/file-end.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    // Guards against a hang, never measurements: a machine may have twenty times as much to do.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
})

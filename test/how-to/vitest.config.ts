import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Run by test/campaign/how-to.test.ts in a copy of the sources that has the changes of docs/how-to.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/how-to/*.proof.ts'],
    setupFiles: ['test/support/api/recorded-traffic.ts'],
    globalSetup: ['test/support/runner/global-setup.ts', 'test/support/api/api-traffic-setup.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

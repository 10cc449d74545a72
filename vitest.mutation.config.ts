import { defineConfig } from 'vitest/config'

/** The tests that judge mutants of the pure rooms: those that read the sources as text would fail at every mutant. */
export default defineConfig({
  test: {
    include: ['test/{unit,golden}/**/*.test.ts'],
    exclude: [
      'test/unit/{bench,commands,config,documents,jobs,observability}/**',
      'test/unit/client/**',
      'test/unit/api/description.test.ts',
    ],
    testTimeout: 30_000,
  },
})

import { defineConfig } from 'vitest/config'

/**
 * The tests that judge mutants of the pure rooms. Those that read the sources as text would fail at every mutant; those that
 * take more than a second or start servers would run for each one, and what they are about has small tests as well.
 */
export default defineConfig({
  test: {
    include: ['test/{unit,golden}/**/*.test.ts'],
    exclude: [
      'test/unit/{bench,commands,config,documents,jobs,observability}/**',
      'test/unit/client/**',
      'test/unit/api/{answer-in-turn,description,fair-turns,http-server,password-strength,passwords}.test.ts',
      'test/unit/{embedded-postgres,import,portal,registry,standard,store,sync}/**',
      'test/unit/feeds/catalogue.test.ts',
      'test/unit/publishing/{draft,parquet-table}.test.ts',
      'test/unit/validation/{code-lists,file,mutants,official-rules,schema-agreement}.test.ts',
      'test/unit/xml/differential.test.ts',
    ],
    testTimeout: 30_000,
  },
})

import { defineConfig } from 'vitest/config'

/**
 * The tests that judge mutants of the pure rooms. Those that read the sources as text would fail at every mutant; those that
 * take more than a second or start servers would run for each one, and what they are about has small tests as well.
 */
export default defineConfig({
  test: {
    include: ['test/{unit,golden}/**/*.test.ts'],
    setupFiles: ['test/support/runner/file-end.ts'],
    exclude: [
      'test/unit/{bench,cli,client,documents,outbound,platform}/**',
      'test/unit/accounts/**',
      'test/unit/http/api/{answer-in-turn,description,fair-turns,http-server}.test.ts',
      'test/unit/{catalogue/{import,sync},http/pages,iati/standard,portal}/**',
      'test/unit/catalogue/project-hits.test.ts',
      'test/unit/iati/catalogue.test.ts',
      'test/unit/release/{draft,parquet-table}.test.ts',
      'test/unit/iati/validation/{code-lists,file,mutants,official-rules,schema-agreement}.test.ts',
      'test/unit/kernel/xml/differential.test.ts',
    ],
    testTimeout: 30_000,
  },
})

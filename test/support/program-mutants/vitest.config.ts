import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const support = (file: string) => path.join(root, 'test/support', file)
// TOUCHED_DIR: draws the map of what each file touches, instead of judging one mutant by some of them.
const drawsMap = process.env.TOUCHED_DIR !== undefined

/** Vitest would begin with the longest; who is likely to notice, soon, is asked first. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files
  }
}

export default defineConfig({
  root,
  cacheDir: path.join(root, 'node_modules/.cache/program-mutants-vite'),
  test: {
    // Of the campaign's, those that call the program in their own process.
    include: [
      'test/{unit,golden,integration}/**/*.test.ts',
      'test/campaign/landing/{shared-folder,jobs-on-redis}.test.ts',
    ],
    exclude: [
      // These read the sources and documents as texts, or run other programs.
      'test/unit/{bench,documents}/**',
      'test/integration/platform/systemd.test.ts',
    ],
    setupFiles: [
      ...(drawsMap ? [support('program-mutants/touched.ts')] : [support('program-mutants/first-failure.ts')]),
      support('api/recorded-traffic.ts'),
      support('runner/file-end.ts'),
    ],
    globalSetup: [support('runner/global-setup.ts'), support('api/api-traffic-setup.ts')],
    pool: 'forks',
    isolate: false,
    maxWorkers: drawsMap ? 2 : 1,
    bail: drawsMap ? 0 : 1,
    ...(!drawsMap && { sequence: { sequencer: AsGiven } }),
    testTimeout: drawsMap ? 120_000 : 40_000,
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 60_000,
    teardownTimeout: 5_000,
  },
})

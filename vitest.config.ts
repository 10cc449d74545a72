import { defineConfig } from 'vitest/config'
import { slowestFiles } from './test/support/runner/slowest-files.js'
import { runsAll } from './test/support/runner/some-of.js'
import { waitingFirst } from './test/support/runner/waiting-first.js'

// `npm test` leaves these out and `npm run test:all` runs them: they start and kill processes, browsers, Redis, sshd and PostgreSQL of their own,
// or take more than five seconds for what a smaller file in `store` notices first.
const processes = [
  'test/e2e/{rehearsal,start,worker-processes}.test.ts',
  'test/integration/catalogue/{imports-at-once,own-platform,recipes,sources-faults}.test.ts',
  'test/integration/catalogue/sync/{hostile,kill,poison,this-service}.test.ts',
  'test/integration/cli/{completion,conditions,init,optional-packages}.test.ts',
  'test/integration/iati/{seeded-mapping,standard-pull}.test.ts',
  'test/integration/http/api/{access-matrix,demo-links,exhaustion,fuzz,manifest-links,python-client,stopped}.test.ts',
  'test/integration/console/{console-browser,moving-in-browser,upload-attacks}.test.ts',
  'test/integration/portal/{browser,first-impression,hostile-pages,links,subscriptions,visitors}.test.ts',
  'test/integration/money/donations/faults.test.ts',
  'test/integration/money/payments/{conformance,donation-page,published-types,webhook-storm}.test.ts',
  'test/integration/outbound/{alerts,bucket}.test.ts',
  'test/integration/platform/{backup-trials,hostile-values,systemd,database/statements}.test.ts',
  'test/integration/release/{assumptions,facts-of-records,folder-of-store,joined-files,notice-flood,publisher-checklist,readers}.test.ts',
  'test/integration/release/{large-records,restored-database,same-bytes,seeded-output,signed-releases,storage,tables,verify-limits}.test.ts',
  'test/integration/work/{first-publication,postgres,redis-servers}.test.ts',
]

/** Limits are guards against a hang, never measurements: a machine may have twenty times as much to do. */
const shared = {
  pool: 'forks',
  // Loading the program again for each of three hundred files takes longer than most of them: files leave nothing behind.
  isolate: false,
  testTimeout: 600_000,
  expect: { poll: { timeout: 120_000 } },
  hookTimeout: 300_000,
  // What `someOf` leaves out, `npm test` leaves to `npm run test:all`, and to who runs a file alone.
  env: runsAll ? {} : { SOME_CASES: '1' },
} as const

/** Files that work in databases; both projects have one server. */
const onPostgres = {
  ...shared,
  setupFiles: ['test/support/api/recorded-traffic.ts', 'test/support/runner/file-end.ts'],
  globalSetup: ['test/support/runner/global-setup.ts'],
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'pure',
          include: ['test/{unit,golden}/**/*.test.ts'],
          setupFiles: ['test/support/runner/file-end.ts'],
        },
      },
      {
        test: {
          ...onPostgres,
          name: 'store',
          // `npm test` runs what is pure in the same workers, which have loaded the program.
          include: [`test/{integration,e2e${runsAll ? '' : ',unit,golden'}}/**/*.test.ts`],
          exclude: processes,
        },
      },
      { test: { ...onPostgres, name: 'processes', include: processes } },
    ],
    globalSetup: ['test/support/api/api-traffic-setup.ts'],
    reporters: ['default', slowestFiles],
    // What was transformed is kept between runs, by its content.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest-modules' },
    // One for each of the two cores of the machines this runs on: each more loads and optimises the whole program again.
    maxWorkers: 2,
    sequence: {
      sequencer: waitingFirst([
        'test/integration/work/postgres.test.ts',
        'test/integration/money/payments/conformance.test.ts',
        'test/e2e/start.test.ts',
      ]),
    },
    teardownTimeout: 60_000,
  },
})

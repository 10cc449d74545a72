import type { Reporter } from 'vitest/node'
import { runsAll } from './some-of.js'

/**
 * Prints the ten files whose tests and hooks took longest: the suite stays short as long as somebody looks at them. Says why
 * `npm test` has skipped tests.
 */
export const slowestFiles: Reporter = {
  onTestRunEnd(modules) {
    if (modules.length <= 10) return
    if (!runsAll) process.stdout.write('\nCases that differ little from others are left to npm run test:all.\n')
    const slowest = modules
      .map((module) => {
        const { duration, setupDuration } = module.diagnostic()
        return { seconds: (duration + setupDuration) / 1000, file: module.relativeModuleId }
      })
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, 10)
    process.stdout.write('\nThe ten slowest files:\n')
    for (const { seconds, file } of slowest) process.stdout.write(`${seconds.toFixed(1).padStart(8)} s  ${file}\n`)
  },
}

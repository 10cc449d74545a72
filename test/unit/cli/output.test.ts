import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it, vi } from 'vitest'
import { createOutput } from '../../../src/cli/output.js'

/** What stands on standard error, which is no terminal, when the first two of four steps took five seconds each. */
async function progressLines(json: boolean, progress?: boolean): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const output = createOutput({ stdout, stderr }, json, progress)
  vi.useFakeTimers({ toFake: ['performance'] })
  await output.withProgress(async (update) => {
    for (const [done, ms] of [5000, 5000, 100, 100].entries()) {
      vi.advanceTimersByTime(ms)
      update('render', done + 1, 4)
    }
  })
  vi.useRealTimers()
  stderr.end()
  return await text(stderr)
}

it('has lines of progress for whoever asks, so that no script and no test reads how fast a machine is', async () => {
  expect(await progressLines(false, true)).toBe('render: 1 of 4\nrender: 2 of 4\n')
  expect(await progressLines(false)).toBe('')
  expect(await progressLines(true, true)).toBe('')
})

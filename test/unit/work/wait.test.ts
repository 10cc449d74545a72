import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { waitForEnd } from '../../../src/work/wait.js'

it('waits for a run without a warning of Node, however often it looks', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  let looks = 0
  const look = async () => ({ id: 1, state: ++looks < 50 ? 'running' : 'published' })
  await waitForEnd(look, { signal: new AbortController().signal, pollMs: 1 })
  await turn()
  expect([looks, warnings]).toEqual([50, []])
})

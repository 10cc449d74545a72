import { afterEach } from 'vitest'

// A set-up file of a judge: after a test has failed, vitest would still load each file that is left, to skip its tests.
const judge: typeof globalThis & { hasNoticed?: boolean } = globalThis
if (judge.hasNoticed) throw new Error('noticed by another file')
afterEach(({ task }) => {
  judge.hasNoticed ||= task.result?.state === 'fail'
})

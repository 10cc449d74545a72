import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, inject } from 'vitest'
import { seenTraffic } from './seen-traffic.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the test files of a run write what they saw; `api-traffic-setup.ts` reads it when the run ends. */
    trafficDir: string
  }
}

// A set-up file, since a hook that is registered while tests run is never called. One worker runs many test files.
afterAll(() => {
  const seen = [...seenTraffic.seen]
  const problems = [...seenTraffic.problems]
  seenTraffic.seen.clear()
  seenTraffic.problems.clear()
  if (seen.length > 0) writeFileSync(path.join(inject('trafficDir'), `${randomUUID()}.json`), JSON.stringify(seen))
  expect(problems, 'answers that openapi.json does not describe (docs/how-to/api-operation.md)').toEqual([])
})

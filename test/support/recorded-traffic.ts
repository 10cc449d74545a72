import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, expect, inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the test files of a run write what they saw; `api-traffic-setup.ts` reads it when the run ends. */
    trafficDir: string
  }
}

/** What the APIs of this test file answered; `api-traffic.ts` records it. */
export const recordedTraffic = {
  /** Such as `GET /a/{b} 200 application/json`. */
  seen: new Set<string>(),
  /** What the description of the API does not say. */
  problems: new Set<string>(),
}

// A set-up file, since a hook that is registered while tests run is never called.
afterAll(() => {
  const { seen, problems } = recordedTraffic
  if (seen.size > 0) writeFileSync(path.join(inject('trafficDir'), `${randomUUID()}.json`), JSON.stringify([...seen]))
  expect([...problems], 'answers that openapi.json does not describe (docs/how-to/api-operation.md)').toEqual([])
})

import fc from 'fast-check'
import { expect } from 'vitest'
import type { Store } from '../../../src/platform/database/store.js'
import { listen, type TestApi, testApi } from '../../support/api/api.js'
import { layRelease } from '../../support/release/release.js'
import { insertOrganisation, insertProjects } from '../../support/store/catalogue.js'
import {
  expectSoundAnswer,
  expectSoundConversation,
  hostileBytes,
  hostileRequests,
  operationPaths,
} from './hostile-requests.js'

// Conversations at a time: most of one is waiting.
const together = 20

/**
 * Sends hostile requests to an API over this empty store, a fifth of them as bytes over sockets; throws at the first
 * answer with another status than wire.md 1.7 lists, a hang or a crash. The same seed sends the same requests.
 */
export async function fuzzApi(store: Store, { requests, seed }: { requests: number; seed: number }): Promise<void> {
  const api = await fuzzedApi(store)
  const paths = await operationPaths(api.app)
  expect(paths.length).toBeGreaterThan(20)
  const overSockets = Math.ceil(requests / 5 / together)
  await fc.assert(
    fc.asyncProperty(hostileRequests(paths, api.apiKey), (request) => expectSoundAnswer(api, request)),
    { seed, numRuns: requests - overSockets * together },
  )
  const base = await listen(api.app)
  const conversations = fc.array(hostileBytes(paths, api.apiKey), { minLength: together, maxLength: together })
  await fc.assert(
    fc.asyncProperty(conversations, async (all) => {
      await Promise.all(all.map((bytes) => expectSoundConversation(base, bytes)))
    }),
    { seed, numRuns: overSockets, endOnFailure: true },
  )
  expect(api.log.filter(({ level }) => Number(level) >= 50)).toEqual([])
  for (const path of ['/healthz', `/api/public/projectservice/all/projects?api_key=${api.apiKey}`]) {
    expect((await fetch(base + path)).status).toBe(200)
  }
}

/** With a few projects, one of them inactive, and a release. */
async function fuzzedApi(store: Store): Promise<TestApi> {
  const api = await testApi(store)
  await insertOrganisation(store.db, 1)
  await insertProjects(store.db, [
    { id: 1, organisationId: 1 },
    { id: 2, active: false },
    { id: 7, organisationId: 1 },
  ])
  const mediaType = 'application/xml; charset=utf-8'
  await layRelease(api.feedsDir, {
    id: '20261121T020000Z-1',
    lastModified: '2026-11-21T02:00:00Z',
    files: [{ path: '/iati/activities.xml', mediaType, text: '<iati-activities/>' }],
  })
  return api
}

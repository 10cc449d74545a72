import { seed } from '../../../src/demo/sql/seed.js'
import { isoDateOf } from '../../../src/kernel/dates.js'
import type { Store } from '../../../src/platform/database/store.js'
import { usd } from '../values/builders.js'

/** Puts invented projects with everything that belongs to them (money, reports, galleries) into the store, ids from 1. */
export async function seedProjects(store: Store, projects: number, today = new Date()): Promise<void> {
  await seed(store, {
    projects,
    source: 'local',
    today: isoDateOf(today),
    currency: usd,
    baseUrl: 'https://giving.example',
    firstId: 1,
  })
}

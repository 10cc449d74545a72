import { isoDateOf } from '../../src/domain/dates.js'
import { seed } from '../../src/store/seeding/seed.js'
import type { Store } from '../../src/store/store.js'
import { usd } from './builders.js'

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

import { afterAll } from 'vitest'
import type { QueueConnection } from '../../../jobs/engine.js'
import { type CrashReport, describeCrashPoints } from './crash-points.js'
import { type CampaignRow, duration, record } from './record.js'

const steps = ['rendered', 'begun', 'written', 'promised', 'sealed', 'switched', 'recorded'] as const

/** Every step of a publication as a crash point, on one engine, with a line for the campaign's table. */
export function describeEveryCrashPoint(
  engine: CampaignRow['engine'],
  openQueue: (databaseUrl: string) => Promise<{ connection: QueueConnection; stop(): Promise<void> }>,
): void {
  const crashes: CrashReport[] = []
  // A step that fails reports nothing, and the table says so by its number.
  afterAll(() => {
    const slowest = Math.max(0, ...crashes.map(({ takeoverMs }) => takeoverMs))
    record({
      name: 'killed right after each step of a publication',
      engine,
      tried: crashes.length,
      outcome: `${crashes.length} of ${steps.length} finished by a process started afterwards, within ${duration(slowest)}`,
    })
  })
  describeCrashPoints(`queue on ${engine}`, openQueue, steps, (crash) => void crashes.push(crash))
}

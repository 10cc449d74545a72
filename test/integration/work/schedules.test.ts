import { describe, expect, it } from 'vitest'
import { adoptSchedule } from '../../../src/work/sql/schedules.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testDatabase } from '../../support/store/database.js'

describe('giving schedules', async () => {
  const { store, url: DATABASE_URL } = await testDatabase()
  const giving = (...args: string[]) => runCommandLine(args, { DATABASE_URL })

  it('pauses a schedule until it is resumed, says so in the status, and who did it', async () => {
    expect((await giving('schedules', 'list')).stdout).toBe('no worker has started yet\n')
    const longAgo = new Date('2026-01-01T00:00:00Z')
    await adoptSchedule(store.db, 'publish', { expression: '0 2 * * *', timezone: 'UTC' }, longAgo)
    expect(await giving('schedules', 'list')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^publish +0 2 \* \* \* \(UTC\), next \d{4}-\d\d-\d\dT02:00:00Z\n$/),
    })
    const overdue = expect.stringContaining('overdue')
    expect((await giving('status')).stdout).toEqual(overdue)
    expect((await giving('schedules', 'pause', 'publish')).code).toBe(0)
    expect(await giving('schedules', 'list')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('paused since'),
    })
    const { stdout, code } = await giving('status')
    expect({ stdout, code }).toEqual({ stdout: expect.stringContaining('giving schedules resume publish'), code: 1 })
    expect(stdout).toMatch(/next run: +none: the schedule is paused\n/)
    expect(stdout).not.toEqual(overdue)
    expect((await giving('schedules', 'resume', 'publish')).stdout).toContain('next ')
    expect((await giving('status')).stdout).not.toContain('paused')
    expect((await giving('audit')).stdout).toMatch(
      /schedule-paused +operator \S+ from \S+: schedule publish\n.*schedule-resumed +operator \S+ from \S+: schedule publish\n/,
    )
    expect(await giving('schedules', 'pause', 'nightly')).toMatchObject({
      code: 2,
      stderr: 'giving: there is no schedule nightly: see giving schedules list\n',
    })
  })
})

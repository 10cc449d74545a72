import { backUpIfDue } from '../src/platform/database/scheduled-backup.js'
import type { Work } from './work-row.js'

/** Writes a backup a day. One too many does no harm, so it has no runs; asked every hour, a missed one is made up for. */
export const backups: Work<'backup'> = {
  name: 'backups',
  fields: ['backup'],
  queues: { settlement: 5 },
  schedules: ({ backup }) => (backup ? { backup: { expression: '37 * * * *', timezone: 'UTC' } } : {}),
  open: ({ store, clock, log, config: { backup } }) =>
    backup && {
      tick: async ({ signal }) => {
        const done = await backUpIfDue(store, backup, { clock, signal })
        if (done !== 'not due') log.info(`backup ${done}`)
        return done
      },
    },
}

import { findContents } from '../src/catalogue/sql/export/snapshot.js'
import { backUpIfDue, tryLastIfDue } from '../src/platform/database/scheduled-backup.js'
import { tryBackup } from '../src/platform/try-backup.js'
import type { Work } from './work-row.js'

/** Writes a backup a day, and each week restores one on trial. One too many does no harm, so it has no runs; asked every hour, a missed one is made up for. */
export const backups: Work<'backup'> = {
  name: 'backups',
  fields: ['backup'],
  queues: { settlement: 5 },
  schedules: ({ backup }) => (backup ? { backup: { expression: '37 * * * *', timezone: 'UTC' } } : {}),
  open: ({ store, clock, log, config: { backup } }) =>
    backup && {
      tick: async ({ signal }) => {
        const done = await backUpIfDue(store, backup, { clock, signal })
        if (done === 'not due') return done
        log.info(`backup ${done}`)
        const tried = await tryLastIfDue(store, { clock, signal }, (file) =>
          tryBackup(file, { signal, contentsOf: findContents }),
        )
        if (tried !== undefined) log.info(`backup ${tried}`)
        return done
      },
    },
}

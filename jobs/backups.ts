import { findContents } from '../src/catalogue/sql/export/snapshot.js'
import { backUpIfDue, tryLastIfDue } from '../src/platform/database/scheduled-backup.js'
import { tryBackup } from '../src/platform/try-backup.js'
import type { Work } from './work-row.js'

/**
 * Writes a backup every day and restores one on trial every week. It looks every hour, so a backup that was missed is made up
 * for; one too many does no harm, so the ledger has no runs of it.
 */
export const backups: Work = {
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

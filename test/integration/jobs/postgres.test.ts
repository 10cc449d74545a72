import { describeSurvival } from './survival.js'

describeSurvival('jobs on PostgreSQL', async (url) => ({
  connection: { kind: 'postgres', url },
  forget: async ({ db }) => {
    const { rows } = await db.query(`select from pg_tables where schemaname = 'bullmq' and tablename = 'job'`)
    if (rows.length > 0) await db.query('truncate bullmq.job, bullmq.scheduler cascade')
  },
  cut: async ({ db }) => {
    await db.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name !~ '^giving test'`)
  },
  stop: async () => undefined,
}))

import { describeSurvival } from './survival.js'

describeSurvival('jobs on PostgreSQL', async (url) => ({
  connection: { kind: 'postgres', url },
  reset: async () => undefined,
  stop: async () => undefined,
}))

import { describeEveryCrashPoint } from '../support/campaign/crash-steps.js'

describeEveryCrashPoint('PostgreSQL', async (url) => ({
  connection: { kind: 'postgres', url },
  stop: async () => undefined,
}))

import { describeEveryCrashPoint } from './support/crash-steps.js'

describeEveryCrashPoint('PostgreSQL', async (url) => ({
  connection: { kind: 'postgres', url },
  stop: async () => undefined,
}))

import { openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { refuseUnderPressure } from '../../../src/http/api/limits.js'
import { createServer } from '../../../src/http/api/server.js'
import { testConfig } from '../api/api-config.js'

// Opens every file that this process may open, lets the timers of the API fire, and says that it is still there.
const limits = { ...testConfig.limits, eventLoopDelayMs: 1_000 }
const app = createServer({ log: pino({ level: 'silent' }), config: { ...testConfig, limits } })
refuseUnderPressure(app, limits, 20)
try {
  for (;;) openSync('/dev/null', 'r')
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error
}
await sleep(200)
process.stdout.write('alive\n')

import pino from 'pino'
import type { Config } from '../config/config.js'

/** Structured logger: `log.info({ runId }, 'publication started')`. */
export type Log = pino.Logger

const redacted = ['password', 'apiKey', 'api_key', 'apiToken', 'api_token', 'databaseUrl', 'redisUrl', 'email']

/** JSON lines on standard error, secrets and personal data redacted wherever they may appear by name. */
export function createLog(level: Config['logLevel']): Log {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: redacted.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    pino.destination({ dest: 2, sync: true }),
  )
}

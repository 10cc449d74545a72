import pino from 'pino'
import type { Config } from '../config/config.js'
import { escapeInvisibleInJson } from '../domain/invisible-characters.js'

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
    standardError(),
  )
}

let openedStandardError: pino.DestinationStream | undefined

/** Standard error, once for all logs of the process. When it is closed or its disk is full, work continues without a log. */
function standardError(): pino.DestinationStream {
  openedStandardError ??= writeOncePerTurn(pino.destination({ dest: 2, sync: true }).on('error', () => undefined))
  return openedStandardError
}

// A server under load logs many lines in a turn.
const maxCharacters = 65_536

/**
 * Writes the lines of one turn of the event loop at once, at its end or when the process exits: a write to a file or pipe
 * costs as much as formatting several lines.
 */
function writeOncePerTurn(destination: pino.DestinationStream): pino.DestinationStream {
  let lines = ''
  const flush = () => {
    const written = lines
    lines = ''
    if (written !== '') destination.write(escapeInvisibleInJson(written))
  }
  process.on('exit', flush)
  return {
    write: (line: string) => {
      if (lines === '') setImmediate(flush)
      lines += line
      if (lines.length > maxCharacters) flush()
    },
  }
}

import pino from 'pino'
import { escapeInvisibleInJson } from '../../kernel/invisible-characters.js'
import type { Config } from '../config/config.js'

/** Structured logger: `log.info({ runId }, 'publication started')`. */
export type Log = pino.Logger

const redacted = [
  ...['password', 'apiKey', 'api_key', 'apiToken', 'api_token', 'authorization', '["x-api-key"]'],
  ...['databaseUrl', 'redisUrl', 'email'],
]

/**
 * Lines on standard error, readable ones or JSON, secrets and personal data redacted wherever they may appear by name. In a
 * terminal, where commands also print what they do, only warnings are logged unless a level is given. The lines of one of
 * several processes of a worker carry its number.
 */
export function createLog(level: Config['logLevel'], format: Config['logFormat'] = 'auto', number?: number): Log {
  const { isTTY } = process.stderr
  const isReadable = isForPeople(format)
  return pino(
    {
      level: level ?? (isTTY ? 'warn' : 'info'),
      base: { pid: process.pid, ...(number !== undefined && { process: number }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: redacted.flatMap((name) => [name, name.startsWith('[') ? `*${name}` : `*.${name}`]),
        censor: '[redacted]',
      },
    },
    isReadable ? { write: (line) => void standardError().write(readableLine(line)) } : standardError(),
  )
}

/** Whether lines of this format are for people: by default those of a terminal. */
function isForPeople(format: Config['logFormat']): boolean {
  return format === 'text' || (format === 'auto' && process.stderr.isTTY)
}

/**
 * How a service tells its operator what it does: plain lines by `note` where its log is for people, elsewhere lines of the
 * log, whatever its level, so that a program reads one format.
 */
export function tellOperator(log: Log, format: Config['logFormat'], note: (text: string) => void) {
  if (isForPeople(format)) return note
  const always = log.child({}, { level: 'info' })
  return (text: string) => always.info(text)
}

/** Writes the warnings of Node and of libraries as lines of the log; by default they are plain lines on standard error. */
export function logWarnings(log: Log): void {
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => void log.warn({ warning: name }, message))
}

/** `12:00:00 warn  the message name=value`: the members of a line of JSON for a person. */
function readableLine(json: string): string {
  const {
    level,
    time,
    pid: _pid,
    msg = '',
    err,
    ...members
  } = JSON.parse(json) as {
    level: number
    time: string
    pid: number
    msg?: string
    err?: { message: string }
  }
  const values = Object.entries(members).map(([name, value]) => {
    const text = typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
    return ` ${name}=${text}`
  })
  const label = (pino.levels.labels[level] ?? String(level)).padEnd(5)
  return `${time.slice(11, 19)} ${label} ${msg}${err ? `: ${err.message}` : ''}${values.join('')}\n`
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

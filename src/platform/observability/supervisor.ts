import { execFile } from 'node:child_process'
import type { Environment } from '../config/config.js'
import type { Log } from './log.js'

/**
 * Tells systemd that the service is ready and, while the event loop turns, that it is alive: at half the time that
 * `WatchdogSec` gives. Does nothing under another supervisor. Node has no datagram sockets for files, so the messages are
 * sent by `systemd-notify` (`NotifyAccess=all`).
 */
export function reportToSystemd(environment: Environment, signal: AbortSignal, log: Log): void {
  if (!environment.NOTIFY_SOCKET) return
  const notify = (...message: readonly string[]) =>
    execFile('systemd-notify', message, { env: environment }, (error) => {
      if (error) log.warn({ err: error }, 'systemd-notify failed')
    })
  notify('--ready')
  const watchdogMs = Number(environment.WATCHDOG_USEC ?? 0) / 1000
  const timer = watchdogMs > 0 ? setInterval(() => notify('WATCHDOG=1'), watchdogMs / 2).unref() : undefined
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    notify('STOPPING=1')
  })
}

import { spawn, spawnSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort } from '../../support/servers/free-port.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'
import { listening } from './listening.js'

/** A HAProxy before a primary and its standby. */
export type HaProxy = { readonly url: string; readonly version: string; stop(): Promise<void> }

/** Why there is no HAProxy to test with; undefined when there is one. */
export function haProxyMissing(): string | undefined {
  return spawnSync('haproxy', ['-v']).error ? 'haproxy is not on the PATH' : undefined
}

/**
 * One that leads every session to the first of these servers that answers: as operators have it, who know nothing of which
 * one may be written.
 */
export async function startHaProxy(primaryUrl: string, standbyUrl: string): Promise<HaProxy> {
  const dir = await temporaryFolder()
  const port = await freePort()
  const file = path.join(dir, 'haproxy.cfg')
  const [primary, standby] = [new URL(primaryUrl), new URL(standbyUrl)]
  const check = 'check inter 300ms fall 2 rise 2 on-marked-down shutdown-sessions'
  await writeFile(
    file,
    `defaults
  mode tcp
  timeout connect 2s
  timeout client 10m
  timeout server 10m
listen postgresql
  bind 127.0.0.1:${port}
  option pgsql-check user ${primary.username}
  server primary ${primary.host} ${check} on-marked-up shutdown-backup-sessions
  server standby ${standby.host} ${check} backup
`,
  )
  const child = spawn('haproxy', ['-f', file], { cwd: '/', stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await listening(port, () => child.exitCode === null)
  const url = new URL(primaryUrl)
  url.port = `${port}`
  return {
    url: url.href,
    version: /\d+\.\d+\.\d+/.exec(spawnSync('haproxy', ['-v'], { encoding: 'utf8' }).stdout)?.[0] ?? '',
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await rm(dir, { recursive: true, force: true })
    },
  }
}

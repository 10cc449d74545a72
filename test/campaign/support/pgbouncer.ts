import { spawn, spawnSync } from 'node:child_process'
import { chownSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort } from '../../support/servers/free-port.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'
import { postgresAccount } from './installed-postgres.js'
import { listening } from './listening.js'

/** A PgBouncer before a server. */
export type PgBouncer = { readonly url: string; readonly version: string; stop(): Promise<void> }

/** Why there is no PgBouncer to test with; undefined when there is one. */
export function pgBouncerMissing(): string | undefined {
  if (spawnSync('pgbouncer', ['--version']).error) return 'pgbouncer is not on the PATH'
  return process.getuid?.() === 0 && !postgresAccount() ? 'root has no user "postgres" to run pgbouncer as' : undefined
}

/** One before the server of this address, with the settings that Debian ships and these. */
export async function startPgBouncer(
  serverUrl: string,
  pooling: 'session' | 'transaction' | 'statement',
  settings: Readonly<Record<string, string | number>> = {},
): Promise<PgBouncer> {
  const server = new URL(serverUrl)
  const account = process.getuid?.() === 0 ? postgresAccount() : undefined
  const dir = await temporaryFolder()
  const port = await freePort()
  const users = path.join(dir, 'users')
  const file = path.join(dir, 'pgbouncer.ini')
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    pool_mode: pooling,
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  await writeFile(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`)
  await writeFile(
    file,
    `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\nlogfile = ${dir}/log\n`,
  )
  await chmod(dir, 0o755)
  if (account) for (const one of [dir, users, file]) chownSync(one, account.uid, account.gid)
  const child = spawn('pgbouncer', [file], { cwd: '/', stdio: 'ignore', ...account })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await listening(port, () => child.exitCode === null)
  const url = new URL(serverUrl)
  url.port = `${port}`
  return {
    url: url.href,
    version: /\d+\.\d+/.exec(spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' }).stdout)?.[0] ?? '',
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      await rm(dir, { recursive: true, force: true })
    },
  }
}

import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from '../../support/commands/command-line.js'
import { afterFile } from '../../support/runner/after-file.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

// Clears the screen (twice), turns the direction of text, hides a letter, starts a new line.
const hostile = 'x\x1b[2J\u009b2J\u202e\u200b\ny'

describe('text from outside in the output of a command', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  const dir = await temporaryFolder()
  const now = new Date().toISOString()
  const manifest = { release: hostile, run: 1, generated: now, files: [] }
  const server = createServer((request, response) => {
    const text = request.url === '/feeds/manifest.json' ? JSON.stringify(manifest) : ''
    response.writeHead(text === '' ? 404 : 200).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  afterFile(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  // XML takes no escape character; a name of a file takes all of it.
  const activity = `<iati-activity><iati-identifier>${hostile.replace('\x1b', '')}</iati-identifier></iati-activity>`
  await writeFile(path.join(dir, `${hostile}.xml`), `<iati-activities version="2.03">${activity}</iati-activities>`)
  await store.db.query("insert into account (email, password_hash, created_at) values ($1, '', now())", [hostile])
  await store.db.query(
    "insert into api_key (account_id, key_hash, created_at) select id, sha256('x'), now() from account",
  )
  await store.db.query('insert into theme (id, name) values ($1, $1)', [hostile])
  await store.db.query(
    `with run as (insert into sync_run (kind, trigger, upstream, state, queued_at, reason, error_code, error_message)
          values ('full', 'manual', '', 'failed', now(), $1, 'upstream-unusable', $1) returning id)
        insert into sync_notice (run_id, subject, field, expected, got) select id, $1, $1, $1, $1 from run`,
    [hostile],
  )

  it.each<[string, (place: string) => string[]]>([
    ['users list', () => ['users', 'list']],
    ['keys list', () => ['keys', 'list']],
    ['themes list', () => ['themes', 'list']],
    ['themes map', () => ['themes', 'map', hostile, '14030']],
    ['sync status', () => ['sync', 'status']],
    ['verify', () => ['verify', address]],
    ['validate', () => ['validate', path.join(dir, `${hostile}.xml`)]],
    ['a command line that is wrong', () => [`no-such-${hostile}`]],
    ['import of a file that is absent', () => ['import', path.join(dir, hostile)]],
  ])('is escaped: %s', async (_, args) => {
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: dir, LOG_LEVEL: 'warn' }
    const text = await runCommandLine(args(dir), environment)
    expect(text.stdout + text.stderr).toContain('\\u{9B}2J\\u{202E}\\u{200B}')
    expect((text.stdout + text.stderr).replaceAll('\n', '')).not.toMatch(/\p{C}/u)

    const { stdout, stderr } = await runCommandLine([...args(dir), '--json'], environment)
    expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/\p{C}/u)
    if (stdout !== '') expect(JSON.stringify(JSON.parse(stdout))).toContain('\u202e\u200b')
  })

  it('marks e-mails with characters that may look like others', async () => {
    await store.db.query('delete from api_key where true')
    await store.db.query('delete from account where true')
    await store.db.query(
      "insert into account (email, password_hash, created_at) values ('paypal@example.org', '', now()), ($1, '', now())",
      ['pаypal@exаmple.org'],
    )
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'warn' }
    const { stdout } = await runCommandLine(['users', 'list'], environment)
    expect(stdout.split('\n')[0]).toMatch(/^paypal@example.org +may read;/)
    expect(stdout.split('\n')[1]).toMatch(/^pаypal@exаmple.org \(not ASCII: U\+0430\) +may read;/)
    const { users } = JSON.parse((await runCommandLine(['users', 'list', '--json'], environment)).stdout)
    expect(users).toMatchObject([{ email: 'paypal@example.org' }, { nonAscii: ['U+0430'] }])
    expect(users[0]).not.toHaveProperty('nonAscii')
  })
})

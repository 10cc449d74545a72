import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()

async function installation() {
  const database = await testDatabase()
  const environment = {
    ...{ DATABASE_URL: database.url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent', DEFAULT_CURRENCY: 'EUR' },
    ALLOW_PRIVATE_NETWORKS: 'true',
  }
  const giving = async (...args: readonly string[]) => {
    const ended = await runCommandLine([...args, '--json'], environment)
    return { ...ended, answer: (ended.stdout === '' ? {} : JSON.parse(ended.stdout)) as Answer }
  }
  return { ...database, giving }
}

type Answer = {
  readonly recipe?: Readonly<Record<string, unknown>>
  readonly open?: readonly string[]
  readonly refused?: number
  readonly outcome?: string
  readonly message?: string
  readonly receipt?: { readonly sums: readonly { readonly currency: string; readonly file: string }[] }
}

describe('a source', () => {
  it('hears each night what came the last time', async () => {
    const one = await installation()
    const drop = path.join(folder, 'nights')
    await mkdir(drop, { recursive: true })
    await writeFile(path.join(drop, 'projects.csv'), 'id,title,status\n101,Wells,active\n')
    await one.giving('import', path.join(drop, 'projects.csv'))
    const row = (reference: string, amount: string) => `101,2026-01-05,${amount},EUR,${reference}\n`
    const head = 'project,date,amount,currency,reference\n'
    await writeFile(path.join(drop, 'gifts.csv'), head + row('a', '10.00'))
    await one.giving(
      'sources',
      'add',
      'gifts',
      '--kind',
      'gifts',
      '--from',
      drop,
      '--names',
      'gifts.csv',
      '--schedule',
      '0 1 * * *',
    )
    expect((await one.giving('sources', 'run', 'gifts')).answer.message).toMatch(/EUR gift: 10\.00 taken$/)
    await writeFile(path.join(drop, 'gifts.csv'), head + row('a', '10.00') + row('b', '5.00'))
    expect((await one.giving('sources', 'run', 'gifts')).answer.message).toMatch(
      /EUR gift: 15\.00 taken, 10\.00 the last time$/,
    )
    await one.drop()
  })
})

describe('a receipt', () => {
  it('that does not balance leaves nothing written', async () => {
    const one = await installation()
    const projects = path.join(folder, 'projects.csv')
    const gifts = path.join(folder, 'gifts.csv')
    await writeFile(projects, 'id,title,status\n101,Wells,active\n')
    await writeFile(gifts, 'project,date,amount,currency,reference\n101,2026-01-05,10.00,EUR,a\n')
    await one.giving('import', projects)
    // Something in the database that nobody told the import of.
    await one.store.db.query(`create function lose_a_cent() returns trigger language plpgsql as
      $$ begin new.amount := new.amount - 0.01; return new; end $$`)
    await one.store.db.query(
      'create trigger lose_a_cent before insert on donation_month for each row execute function lose_a_cent()',
    )
    const { code, stderr } = await one.giving('import', gifts)
    expect(code).toBe(2)
    expect(stderr).toContain(
      'the receipt does not balance, so nothing is written: EUR gift 2026-01: the rows that are new have 10.000, and the store moved by 9.990',
    )
    const { rows } = await one.store.db.query(
      'select (select count(*) from donation_month) as months, (select count(*) from imported_gift) as gifts, (select state from import order by id desc limit 1)',
    )
    expect(rows).toEqual([{ months: 0, gifts: 0, state: 'undone' }])
    await one.store.db.query('drop trigger lose_a_cent on donation_month')
    expect((await one.giving('import', gifts)).answer).toMatchObject({ created: 1 })
    expect(await readFile(gifts, 'utf8')).toContain('10.00')
    await one.drop()
  })
})

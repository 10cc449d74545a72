import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { officeExport } from '../../support/catalogue/office-exports.js'
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

/** The sums of the books by project, month and kind. */
const booksOf = async ({ store }: Awaited<ReturnType<typeof installation>>) => {
  const { rows } = await store.db.query<{ key: string; amount: string }>(
    `select p.external_id || ' ' || to_char(m.month, 'YYYY-MM') || ' ' || m.kind as key, trim_scale(m.amount)::text as amount
      from donation_month m join project p on p.id = m.project_id order by 1`,
  )
  return Object.fromEntries(rows.map(({ key, amount }) => [key, Number(amount).toFixed(2)]))
}

describe('an office that moves in', () => {
  it.each(Array.from({ length: 10 }, (_, seed) => seed + 1))(
    'is read by guessed recipes, by command and by a nightly folder, equal to a recount (seed %i)',
    async (seed) => {
      const byCommand = await installation()
      const byNight = await installation()
      const office = officeExport(seed)
      const drop = path.join(folder, `office-${seed}`)
      await mkdir(drop, { recursive: true })
      for (const { name, content, kind, answers } of office.files) {
        const file = path.join(drop, name)
        await writeFile(file, content)
        const { answer } = await byCommand.giving('recipes', 'guess', file)
        expect(answer.recipe?.kind, name).toBe(kind)
        // What only a person can say.
        const recipe = path.join(drop, `${name}.json`)
        await writeFile(recipe, JSON.stringify(answers(answer.recipe ?? {})))
        for (const one of [byCommand, byNight])
          expect((await one.giving('recipes', 'save', 'office', recipe)).code).toBe(0)
        const imported = await byCommand.giving('import', file, '--recipe', 'office')
        expect(imported.answer, `${name}: ${imported.stdout.slice(0, 2000)}`).toMatchObject({
          refused: 0,
          brokenFiles: 0,
        })
        const source = ['--kind', kind, '--from', drop, '--names', name, '--schedule', '30 1 * * *']
        expect((await byNight.giving('sources', 'add', kind, ...source, '--recipe', 'office')).stderr).toBe('')
        const night = await byNight.giving('sources', 'run', kind)
        expect(night.answer, `${name}: ${night.stdout.slice(0, 2000)}`).toMatchObject({ outcome: 'imported' })
        if (kind === 'gifts') expect(sumsOf(imported.answer)).toEqual(office.fileSums)
      }
      expect(await booksOf(byCommand)).toEqual(office.months)
      expect(await booksOf(byNight)).toEqual(office.months)
      const counted = `select (select count(*) from project) as projects, (select count(*) from organisation) as organisations,
        (select count(*) from progress_report) as reports`
      for (const { store } of [byCommand, byNight])
        expect((await store.db.query(counted)).rows).toEqual([office.counts])
      const { rows } = await byCommand.store.db.query<{ html: string }>(
        'select content_html as html from progress_report order by url limit 1',
      )
      expect(rows[0]?.html).toBe(office.firstReport)
      await byCommand.drop()
      await byNight.drop()
    },
  )

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
    await one.drop()
  })
})

/** What a receipt says of the files, by currency. */
function sumsOf({ receipt }: Answer): Record<string, string> {
  const cents = new Map<string, number>()
  for (const { currency, file } of receipt?.sums ?? [])
    cents.set(currency, (cents.get(currency) ?? 0) + Math.round(Number(file) * 100))
  return Object.fromEntries([...cents].map(([currency, sum]) => [currency, (sum / 100).toFixed(2)]))
}

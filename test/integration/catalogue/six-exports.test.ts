import { readFileSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { printed } from '../../support/commands/command-line.js'
import { testDatabase } from '../../support/store/database.js'
import { borrowedExports } from '../../support/values/borrowed-files.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()
const own = path.resolve(import.meta.dirname, '../../support/catalogue/exports')

// In the order in which one refers to the other.
const exported = [
  ['organisations-civicrm', 'organizations'],
  ['projects-excel-de', 'projects'],
  ['gifts-givewp-de', 'gifts'],
  ['gifts-donorbox', 'gifts'],
  ['gifts-excel-2026', 'gifts'],
  ['reports-airtable', 'reports'],
] as const

type Counted = {
  /** Cents that count, by project, month and kind. */
  readonly months: Map<string, number>
  /** Cents of all rows with an amount, by file and currency. */
  readonly files: Map<string, number>
  /** Projects that gifts and reports name. */
  readonly named: Set<string>
  /** Partners that projects name. */
  readonly partners: Set<string>
}

const cells = (line: string, delimiter: string) =>
  [...`${delimiter}${line}`.matchAll(new RegExp(`${delimiter}(?:"((?:[^"]|"")*)"|([^${delimiter}]*))`, 'g'))].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  )
const linesOf = (file: string, encoding: string) =>
  new TextDecoder(encoding).decode(readFileSync(file)).split(/\r?\n/).slice(1).filter(Boolean)
const centsOf = (text: string) => Math.round(Number(text) * 100)
const german = (text: string) => centsOf(text.replace(/[^\d,-]/g, '').replace(',', '.'))

/** Counts the three files of gifts without the program. */
function recount(of: string): Counted {
  const counted: Counted = { months: new Map(), files: new Map(), named: new Set(), partners: new Set() }
  const add = (sums: Map<string, number>, key: string, cents: number) =>
    cents !== 0 && sums.set(key, (sums.get(key) ?? 0) + cents)
  const take = (project: string, day: string, cents: number) => {
    counted.named.add(project)
    add(counted.months, `${project} ${day.slice(0, 7)} ${cents < 0 ? 'refund' : 'gift'}`, cents)
  }
  const seen = new Set<string>()
  for (const line of linesOf(path.join(of, 'gifts-givewp-de.csv'), 'windows-1252')) {
    const [id = '', project = '', , amount = '', currency = '', day = '', , , , status] = cells(line, ';')
    if (currency !== '') add(counted.files, `gifts-givewp-de ${currency}`, german(amount))
    if (status !== 'Abgeschlossen' || seen.has(id)) continue
    seen.add(id)
    take(project, day.split('.').reverse().join('-'), german(amount))
  }
  for (const line of linesOf(path.join(of, 'gifts-donorbox.csv'), 'utf-8')) {
    const [, , , project = '', amount = '', currency = '', settled = '', day = ''] = cells(line, ',')
    const [stated, counting] = [amount, currency === 'EUR' ? amount : settled].map((text) =>
      centsOf(text.replaceAll(',', '')),
    ) as [number, number]
    add(counted.files, `gifts-donorbox ${currency}`, stated)
    take(project, day, counting)
  }
  let above = ''
  for (const line of linesOf(path.join(of, 'gifts-excel-2026.csv'), 'utf-8')) {
    const [project = '', serial = '', amount = '', currency = ''] = cells(line, ';')
    if (project === 'Gesamt') continue
    above = project || above
    add(counted.files, `gifts-excel-2026 ${currency}`, german(amount))
    take(above, new Date((Number(serial) - 25_569) * 86_400_000).toISOString(), german(amount))
  }
  for (const line of linesOf(path.join(of, 'projects-excel-de.csv'), 'utf-8')) {
    const [id = '', , , partner] = cells(line, ';')
    if (/^[\da-f-]{36}$/.test(id) && partner) counted.partners.add(partner)
  }
  // A record of reports begins with its id; its text goes on below.
  for (const line of linesOf(path.join(of, 'reports-airtable.csv'), 'utf-8')) {
    if (line.startsWith('rec')) counted.named.add(cells(line, ',')[1] ?? '')
  }
  return counted
}

type Answer = {
  readonly records?: number
  readonly outcome?: string
  readonly import?: number
  readonly imports?: readonly { readonly import: number; readonly refused: number }[]
  readonly receipts?: readonly {
    readonly month: string
    readonly kind: string
    readonly amount: string
    readonly imports: readonly { readonly amount: string }[]
  }[]
  readonly receipt?: {
    readonly rows: Readonly<Record<string, number>>
    readonly sums: readonly Readonly<Record<'currency' | 'file' | 'taken' | 'refused' | 'leftOut', string>>[]
  }
}

async function installation() {
  const { store, url, drop } = await testDatabase()
  const environment = {
    ...{ DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent', DEFAULT_CURRENCY: 'EUR' },
    ALLOW_PRIVATE_NETWORKS: 'true',
  }
  const giving = (...args: readonly string[]) => printed<Answer>(args, environment)
  const books = async () => {
    const { rows } = await store.db.query<{ key: string; cents: string }>(
      `select p.external_id || ' ' || to_char(m.month, 'YYYY-MM') || ' ' || m.kind as key, round(m.amount * 100)::text as cents
        from donation_month m join project p on p.id = m.project_id order by 1`,
    )
    return new Map(rows.map(({ key, cents }) => [key, Number(cents)]))
  }
  return { store, giving, books, drop }
}

/** What a receipt says of its file, by currency; that it balances is added up again. */
function fileSums(name: string, { receipt }: Answer): [string, number][] {
  const sums = new Map<string, number>()
  for (const { currency, file, taken, refused, leftOut } of receipt?.sums ?? []) {
    expect(centsOf(taken) + centsOf(refused) + centsOf(leftOut)).toBe(centsOf(file))
    sums.set(`${name} ${currency}`, (sums.get(`${name} ${currency}`) ?? 0) + centsOf(file))
  }
  return [...sums]
}

const sorted = (sums: Iterable<readonly [string, number]>) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1))

/** Moves an office in by recipes alone: by command, and by folders that are read at night. */
async function moveIn(name: string, exports: string) {
  const drop = path.join(folder, name)
  await mkdir(drop)
  for (const [file] of exported) await cp(path.join(exports, `${file}.csv`), path.join(drop, `${file}.csv`))
  const counted = recount(drop)
  const [day, night] = [await installation(), await installation()]
  // Of first lines, most partners and projects that others name are missing.
  const lacking = async (file: string, named: readonly string[]) => {
    const text = await readFile(path.join(drop, file), 'utf8')
    return named.filter((one) => !text.includes(one))
  }
  const partners = await lacking('organisations-civicrm.csv', [...counted.partners])
  const projects = await lacking('projects-excel-de.csv', [...counted.named])
  const stubs = [path.join(drop, 'organizations.csv'), path.join(drop, 'projects.csv')] as const
  await writeFile(stubs[0], `externalId,name\n${partners.map((one) => `${one},Another\n`).join('')}`)
  await writeFile(stubs[1], `externalId,title,status\n${projects.map((one) => `${one},Another,active\n`).join('')}`)
  const sources = exported.map(([file, kind], index) => ({
    ...{ name: file, from: drop, names: `${file}.csv`, schedule: '30 1 * * *', kind },
    // A name of a saved one, or a file beside the list.
    recipe: index % 2 === 0 ? file : path.join(own, `${file}.json`),
  }))
  const list = path.join(drop, 'sources.json')
  await writeFile(list, JSON.stringify(sources))
  for (const one of [day, night]) {
    for (const [file] of exported) await one.giving('recipes', 'save', file, path.join(own, `${file}.json`))
    if (partners.length + projects.length > 0) await one.giving('import', ...stubs)
  }
  await night.giving('sources', 'apply', list)

  for (const [file] of exported) {
    const imported = await day.giving('import', path.join(drop, `${file}.csv`), '--recipe', file)
    const { outcome, imports = [] } = await night.giving('sources', 'run', file)
    expect({ file, outcome, refused: imports.map(({ refused }) => refused) }).toEqual({
      ...{ file, outcome: 'imported', refused: [0] },
    })
    const shown = await night.giving('imports', 'show', String(imports[0]?.import))
    const expected = sorted([...counted.files].filter(([key]) => key.startsWith(`${file} `)))
    for (const answer of [imported, shown]) {
      expect(sorted(fileSums(file, answer))).toEqual(expected)
      const { taken = 0, refused = 0, leftOut = 0, replaced = 0, ...rows } = answer.receipt?.rows ?? {}
      expect(taken + refused + leftOut + replaced).toBe(rows.in)
    }
  }
  for (const { books, giving, drop: end } of [day, night]) {
    expect(sorted(await books())).toEqual(sorted(counted.months))
    // What each import has brought to a project is what the books have of it.
    for (const project of counted.named) {
      const { receipts = [] } = await giving('projects', 'show', project, '--receipts')
      for (const { month, kind, amount, imports } of receipts) {
        expect(centsOf(amount)).toBe(counted.months.get(`${project} ${month} ${kind}`))
        expect(imports.reduce((sum, one) => sum + centsOf(one.amount), 0)).toBe(centsOf(amount))
        for (const one of imports) expect(one).toMatchObject({ files: [expect.stringMatching(/gifts-.*csv$/)] })
      }
      expect(receipts).toHaveLength([...counted.months.keys()].filter((key) => key.startsWith(project)).length)
    }
    // First lines have refunds of gifts that are on later ones.
    if (exports === own) await giving('books', 'check')
    await end()
  }
}

describe('an office whose programs wrote six exports', () => {
  it('moves in by recipes alone, by command and by a nightly folder, equal to a recount', async () => {
    await moveIn('own', own)
  })

  const borrowed = borrowedExports('a move with the first lines of real exports')
  it.runIf(borrowed)('moves in with the first lines that its programs wrote', async () => {
    await moveIn('borrowed', borrowed ?? '')
  })
})

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { exportStore } from '../../../src/catalogue/export/export-store.js'
import { templateOf } from '../../../src/catalogue/import/describe-kind.js'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { kinds } from '../../../src/catalogue/import/kinds.js'
import { undoImport } from '../../../src/catalogue/sql/imports.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import type { Store } from '../../../src/platform/database/store.js'
import { usd } from '../values/builders.js'
import { randomFrom } from '../values/random.js'

export const importing = {
  ...({ source: 'import', publisherRef: 'XE-EXAMPLE-INVENTED' } as const),
  ...{ clock: () => new Date('2026-11-21T08:00:00Z'), currency: usd },
}

const everything = {
  ...({ format: 'ndjson', donors: false, accounts: false } as const),
  clock: importing.clock,
  signal: new AbortController().signal,
}

/** Puts the templates of all kinds into a store: what later imports find. */
export async function fillWithTemplates(store: Store, folder: string): Promise<void> {
  for (const kind of kinds) {
    const file = path.join(folder, `${kind.name}.csv`)
    await writeFile(file, templateOf(kind))
    const { created, problems } = await importFiles(store, [file], importing)
    assert.deepEqual({ created, problems }, { created: 2, problems: [] }, kind.name)
  }
}

/** The hash of each file of an export; activities say which of them the next publication renders again. */
export async function exported(store: Store): Promise<Record<string, string>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'giving-exported-'))
  try {
    await exportStore(store, path.join(folder, 'all'), everything)
    const hashes: Record<string, string> = {}
    for (const name of (await readdir(path.join(folder, 'all'))).filter(isCompared)) {
      const text = await readFile(path.join(folder, 'all', name))
      hashes[name] = createHash('sha256').update(text).digest('hex')
    }
    return hashes
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function isCompared(name: string): boolean {
  return name.endsWith('.ndjson') && name !== 'activities.ndjson'
}

/** Random records of each kind, of few ids, so that imports meet. */
function recordsFrom(random: () => number) {
  const one = <const T extends readonly unknown[]>(...choices: T) =>
    choices[Math.floor(random() * choices.length)] as T[number]
  const upTo = (most: number) => 1 + Math.floor(random() * most)
  const project = () => one(101, 102, 103, 104, 105)
  const organization = () => one(7, 8, 9, 10)
  const theme = () => one('water', 'bees', 'reefs', 'boats')
  const word = () => one('Wells', 'Desks & chairs', 'Hives', '"Nets"', 'مياه')
  const image = () => `https://platform.example/${upTo(3)}.jpg`
  const day = () => `2025-${one('03', '04', '05')}-${10 + upTo(18)}`
  const money = () => `${upTo(900)}.${one('00', '50', '05')}`
  const makers: Readonly<Record<string, () => object>> = {
    themes: () => ({ id: theme(), name: word(), sector: one('14031', '31194', ''), humanitarian: one('yes', 'no') }),
    organizations: () => ({
      ...{ id: organization(), name: word(), themes: one([], [theme()]), countries: one([], ['KE'], ['SL', 'GN']) },
      ...{ orgRef: one('GB-CHC-202918', null, ''), vetted: one('yes', 'no', ''), mission: one('', word()) },
    }),
    funders: () => ({ id: one(501, 502, 503, 7), name: word(), country: one('CH', 'US', '', null) }),
    projects: () => ({
      ...{
        id: project(),
        title: word(),
        status: one('active', 'funded', 'retired'),
        organization: one('', organization()),
      },
      ...{ themes: one([], ['water'], ['water', 'bees']), goal: one('', money()), videos: one([], [image()]) },
      ...{
        countries: one([], ['KE'], ['SL', 'GN']),
        sdgs: one([], ['6.1', '13']),
        deadline: one('', '2027-06-30', null),
      },
      ...{ donationOptions: one([], [{ amount: '25', description: word() }]), summary: one('', word()) },
    }),
    images: () => ({
      project: project(),
      position: upTo(3),
      title: word(),
      original: image(),
      consent: one('yes', 'no', ''),
    }),
    reports: () => ({
      ...{ url: `https://platform.example/reports/${upTo(4)}`, project: project(), title: word(), published: day() },
      ...{ html: `<p>${one('Water.', 'Desks.')}</p>`, images: one([], [{ url: image() }]) },
    }),
    gifts: () => ({
      ...{ project: project(), date: day(), amount: money(), currency: 'USD', funder: one('', 501, 502) },
      ...one({ reference: `G-${upTo(40)}` }, { reference: `G-${upTo(40)}` }, { count: upTo(9) }),
    }),
    'payout-plans': () => ({
      project: project(),
      reference: `P-${upTo(6)}`,
      date: '2027-03-31',
      amount: money(),
      currency: 'USD',
    }),
    disbursements: () => ({
      ...{
        project: project(),
        reference: `D-${upTo(20)}`,
        date: day(),
        amount: money(),
        currency: 'USD',
        receiver: one('', organization()),
      },
    }),
  }
  const page = () => {
    const name = word()
    const stated = { funding: money(), numberOfDonations: 5, themeName: word() }
    const organization = { id: one(20, 21), name, themes: {}, countries: {} }
    return { id: one(201, 202), active: true, status: 'active', title: word(), ...stated, organization }
  }
  const activity = () => `
    <iati-activity xml:lang="en" default-currency="USD"><iati-identifier>XE-EXAMPLE-INVENTED-M${upTo(3)}</iati-identifier>
      <reporting-org ref="XE-EXAMPLE-INVENTED" type="22"/><title><narrative>Moved</narrative></title>
      <activity-status code="${one('2', '4')}"/><activity-date type="2" iso-date="2020-01-0${upTo(9)}"/></iati-activity>`
  const organisation = () => `
    <iati-organisation><organisation-identifier>XE-EXAMPLE-INVENTED${one('', '-PARTNER')}</organisation-identifier>
      <name><narrative>${one('Wells', 'Hives')}</narrative></name>
      <total-budget><period-start iso-date="2025-01-01"/><period-end iso-date="2025-12-31"/>
        <value currency="USD" value-date="2025-01-01">${upTo(9)}</value></total-budget></iati-organisation>`
  return (): readonly [name: string, text: string] => {
    const kind = one(...kinds.map(({ name }) => name), 'page', 'iati', 'iati-organisations')
    const many = upTo(6)
    if (kind === 'iati-organisations') {
      return ['organisations.xml', `<iati-organisations version="2.03">${organisation()}</iati-organisations>`]
    }
    if (kind === 'iati') {
      const activities = Array.from({ length: upTo(2) }, activity).join('')
      return ['iati.xml', `<iati-activities version="2.03">${activities}</iati-activities>`]
    }
    if (kind === 'page') {
      const modifiedDate = `2026-01-${10 + upTo(18)}T00:00:00Z`
      return ['page.json', JSON.stringify({ projects: { project: [{ ...page(), modifiedDate }] } })]
    }
    const lines = Array.from({ length: many }, () => `${JSON.stringify(makers[kind]?.())}\n`)
    return [`${kind}.ndjson`, lines.join('')]
  }
}

/** Takes an import back in a transaction of its own; whether nothing stood against it. */
export async function takeBack(store: Store, id: number): Promise<boolean> {
  class Refused extends Error {}
  try {
    await store.transaction(async (db) => {
      const outcome = await undoImport(db, id, { actor: 'test', origin: 'test' }, importing.clock())
      if ('obstacles' in outcome) throw new Refused()
    })
    return true
  } catch (error) {
    if (error instanceof Refused) return false
    throw error
  }
}

/**
 * Imports random files and takes imports back in any order, then takes back the rest, newest first: nothing stands against
 * that. Returns the names of files that wrote something, and how many were taken back out of order.
 */
export async function importAndUndo(store: Store, folder: string, seed: number, steps: number) {
  const random = randomFrom(seed)
  const nextFile = recordsFrom(random)
  const open: number[] = []
  const counts = { writing: new Set<string>(), outOfOrder: 0, refused: 0 }
  for (let step = 0; step < steps; step++) {
    if (open.length > 0 && random() < 0.35) {
      const at = Math.floor(random() * open.length)
      if (!(await takeBack(store, open[at] ?? 0))) counts.refused++
      else {
        if (at < open.length - 1) counts.outOfOrder++
        open.splice(at, 1)
      }
      continue
    }
    const [name, text] = nextFile()
    const file = path.join(folder, name)
    await writeFile(file, text)
    const {
      import: id,
      created,
      changed,
    } = await importFiles(store, [file], {
      ...{ ...importing, force: true, repair: random() < 0.3, correct: random() < 0.3 },
    })
    if (created + changed > 0) counts.writing.add(name)
    open.push(id ?? 0)
    // Random payouts may be more than what came in.
    const differences = await store.snapshot((db) => listDifferences(db, 9))
    assert.deepEqual(
      differences.filter(({ what }) => what !== 'no more is paid out than came in'),
      [],
    )
  }
  for (const id of open.reverse()) {
    assert.ok(await takeBack(store, id), `import ${id} of seed ${seed}`)
  }
  return counts
}

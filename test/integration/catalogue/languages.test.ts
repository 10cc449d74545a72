import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Element, element } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { languageFiles, lines } from '../../support/catalogue/language-files.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'

describe('a platform in several languages', { shuffle: false }, () => {
  let ours: CommandStore
  let activities: Element
  const importing = async (name: string, text: string, options = '') => {
    await writeFile(path.join(ours.folder, name), text)
    return await ours.json(`import ${path.join(ours.folder, name)}${options}`)
  }
  const publish = async () => {
    expect(await ours.run('publish --inline')).toMatchObject({ code: 0, stderr: '' })
    activities = parseElement(await ours.read('/iati/activities.xml'), recordLimits)
  }
  const activity = (id: number): Element => {
    const all = activities.children
    return all.find((one) => one.children[0]?.text === `GB-CHC-1164883-${id}`) ?? element('none', undefined)
  }
  /** What an element of the activity says, each with the language that is in effect. */
  const said = (id: number, ...names: string[]): string[] => {
    const root = activity(id)
    const [first = '', ...rest] = names
    const start = root.children.filter(
      ({ name, attributes }) => `${name}${attributes.role ?? attributes.type ?? ''}` === first,
    )
    const found = rest.reduce(
      (all, name) => all.flatMap(({ children }) => children.filter((one) => one.name === name)),
      start,
    )
    return found.flatMap(({ children }) =>
      children
        .filter(({ name }) => name === 'narrative')
        .map(({ attributes, text }) => `${attributes['xml:lang'] ?? root.attributes['xml:lang']}: ${text}`),
    )
  }

  beforeAll(async () => {
    ours = await commandStore({
      ...{
        REPORTING_ORG_REF: 'GB-CHC-1164883',
        REPORTING_ORG_TYPE: '22',
        DEFAULT_CURRENCY: 'EUR',
        FACTS_CONFIRMED: 'yes',
      },
      ...{ PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_PUBLISHABLE_KEY: 'pk_live_1' },
      DONOR_KEYS: `2026:${Buffer.alloc(32, 1).toString('base64')}`,
    })
    for (const [name, text] of Object.entries(languageFiles)) {
      expect(await importing(name, text), name).toMatchObject({ code: 0, answer: { refused: 0 } })
    }
    await publish()
  })
  afterAll(async () => await ours.remove())

  it('publishes each text in its language, the own one of the record first', () => {
    expect(activities.children.map(({ attributes }) => attributes['xml:lang'])).toEqual(['de', 'fr', 'ar', 'en', 'sw'])
    expect(said(101, 'title')).toEqual(['de: Brunnen für Tara', 'ar: آبار لتارا', 'fr: Des puits pour Tara'])
    expect(said(101, 'description1')).toEqual(['de: Vier Brunnen.', 'fr: Quatre puits.'])
    expect(said(101, 'description2')).toEqual(['de: Kein Wasser.\nGesundheit.', 'fr: Pas d’eau.'])
    expect(said(102, 'title')).toEqual(['fr: Des bancs pour Gulu'])
    expect(said(103, 'title')).toEqual(['ar: مدرسة عمان', 'fr: École d’Amman'])
    expect(said(104, 'title')).toEqual(['en: Desks for Gulu'])
    expect(said(101, 'participating-org4')).toEqual(['de: Brunnen für alle e. V.', 'en: Wells for all'])
    expect(said(102, 'participating-org4')).toEqual(['fr: Écoles de Gulu'])
  })

  it('writes its own sentences in the language of the record, else in English and says so', () => {
    expect(said(101, 'transaction', 'description')).toEqual(['de: 3 Spenden im Monat 2025-02'])
    expect(said(102, 'transaction', 'description')).toEqual(['fr: 3 dons en 2025-02'])
    expect(said(103, 'transaction', 'description')).toEqual(['ar: 3 تبرعات في 2025-02'])
    expect(said(104, 'transaction', 'description')).toEqual(['en: 3 donations in 2025-02'])
    expect(said(105, 'transaction', 'description')).toEqual(['en: 3 donations in 2025-02'])
    expect(said(101, 'participating-org1')[0]).toMatch(/^de: Einzelspenden über /)
    expect(said(101, 'result1', 'title')).toEqual(['de: Fortschritt des Projekts'])
    expect(said(105, 'participating-org3')[0]).toMatch(/^en: /)
  })

  it('has texts of reports in their own language', () => {
    expect(said(101, 'result1', 'indicator', 'period', 'actual', 'comment')).toEqual(['en: Water.', 'de: Wasser.'])
    expect(said(102, 'result1', 'indicator', 'period', 'actual', 'comment')).toEqual(['fr: Bancs.'])
    const [page, report] = activity(101)
      .children.filter(({ name }) => name === 'document-link')
      .filter(({ attributes }) => attributes.format === 'text/html')
      .map(({ children }) => children.find(({ name }) => name === 'language')?.attributes.code)
    expect([page, report]).toEqual(['de', 'en'])
  })

  it('leaves out nothing of the money', () => {
    const values = activities.children
      .flatMap(({ children }) => children.filter(({ name }) => name === 'transaction'))
      .map(({ children }) => children.find(({ name }) => name === 'value')?.text)
    expect(values).toEqual(Array.from({ length: 5 }, () => '100.50'))
  })

  it('keeps what a later file leaves out, and takes away what it clears', async () => {
    expect(
      await importing(
        'later-projects.csv',
        lines('id,title,status,title@fr,title@es', '101,Brunnen für Tara,active,-,Pozos para Tara'),
        ' --kind projects',
      ),
    ).toMatchObject({ answer: { changed: 1 } })
    const { rows } = await ours.store.db.query('select language, texts from project where id = 101')
    expect(rows).toEqual([
      {
        language: 'de',
        texts: {
          'title@ar': 'آبار لتارا',
          'title@es': 'Pozos para Tara',
          'summary@fr': 'Quatre puits.',
          'need@fr': 'Pas d’eau.',
        },
      },
    ])
    const { rows: last } = await ours.store.db.query<{ id: number }>('select max(id) as id from import')
    expect(await ours.run(`imports undo ${last[0]?.id}`)).toMatchObject({ code: 0 })
    const { rows: before } = await ours.store.db.query(
      `select texts ->> 'title@fr' as french, texts ->> 'title@es' as spanish from project where id = 101`,
    )
    expect(before).toEqual([{ french: 'Des puits pour Tara', spanish: undefined }])
  })

  it('refuses a text of no language or of no field, by name', async () => {
    for (const [column, expected] of [
      ['title@xx', 'title@xx'],
      ['goal@fr', 'goal@fr'],
    ] as const) {
      const { code, stderr } = await ours.run(
        `import ${await written(`bad-${column}.csv`, lines(`id,title,status,${column}`, '9,A,active,1'))} --kind projects`,
      )
      expect(code).not.toBe(0)
      expect(stderr).toContain(expected)
    }
  })
  const written = async (name: string, text: string) => {
    await writeFile(path.join(ours.folder, name), text)
    return path.join(ours.folder, name)
  }

  it.each(['csv', 'ndjson'])('an export as %s, read back, restores languages and texts', async (format) => {
    const folder = path.join(ours.folder, `export-${format}`)
    expect(await ours.json(`export ${folder} --format ${format}`)).toMatchObject({ code: 0 })
    expect(await readFile(path.join(folder, `projects.${format}`), 'utf8')).toContain('title@fr')
    const tables = ['organisation', 'project', 'progress_report']
    const stored = async () => {
      const all = tables.map((table) =>
        ours.store.db.query<{ texts: object | undefined }>(`select id, language, texts from ${table} order by id`),
      )
      return (await Promise.all(all)).map(({ rows }) => rows)
    }
    const before = await stored()
    expect(before.flat().filter(({ texts }) => texts !== undefined)).toHaveLength(4)
    for (const table of tables) await ours.store.db.query(`update ${table} set language = null, texts = null`)
    for (const kind of ['organizations', 'projects', 'reports']) {
      const again = await ours.json(`import ${path.join(folder, `${kind}.${format}`)} --kind ${kind} --repair`)
      expect(again, kind).toMatchObject({ code: 0, answer: { refused: 0, created: 0 } })
    }
    expect(await stored()).toEqual(before)
  })

  it('takes languages from Atom, from an IATI file and from a record of the API', async () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de-DE"><id>https://p.example/f</id><title>F</title>
      <updated>2025-06-03T00:00:00Z</updated><link rel="alternate" href="https://p.example/101"/>
      <entry><id>https://p.example/r/3</id><title>Drei</title><published>2025-06-03T00:00:00Z</published><content>Drei.</content></entry>
      <entry xml:lang="ar"><id>https://p.example/r/4</id><title>أربعة</title><published>2025-06-04T00:00:00Z</published><content>4</content></entry></feed>`
    expect(await importing('feed.atom', atom)).toMatchObject({ answer: { created: 2, refused: 0 } })
    const titles = (narratives: string) =>
      `<title>${narratives}</title><description type="1"><narrative>Four wells</narrative></description>`
    const moved = (id: string, narratives: string) =>
      `<iati-activity xml:lang="en" default-currency="EUR"><iati-identifier>GB-CHC-1164883-${id}</iati-identifier>
      <reporting-org ref="GB-CHC-1164883" type="22"><narrative>Giving</narrative></reporting-org>${titles(narratives)}
      <participating-org role="1" type="22" ref="GB-CHC-1164883"><narrative>Giving</narrative></participating-org><activity-status code="2"/>
      <activity-date type="1" iso-date="2024-01-01"/><activity-date type="2" iso-date="2024-01-01"/><recipient-country code="JO"/>
      <sector vocabulary="1" code="14031"/></iati-activity>`
    const several =
      '<narrative xml:lang="ar">آبار</narrative><narrative xml:lang="en">Wells</narrative><narrative xml:lang="fr">Puits</narrative>'
    const empty = '<narrative xml:lang="en"></narrative><narrative xml:lang="fr">Puits de Tara</narrative>'
    const iati = (...all: string[]) => `<iati-activities version="2.03">${all.join('')}</iati-activities>`
    expect(await importing('old.xml', iati(moved('LANGS', several), moved('A14', empty)))).toMatchObject({
      answer: { created: 2 },
    })
    const wire = {
      project: {
        ...{ id: 106, active: true, status: 'active', title: 'Pozos', funding: '0', numberOfDonations: 0 },
        organization: { id: 9, name: 'Agua', iati: { language: 'es' } },
        iati: { language: 'es', texts: { text: [{ field: 'title', language: 'en', value: 'Wells' }] } },
      },
    }
    expect(await importing('record.json', JSON.stringify(wire))).toMatchObject({ answer: { created: 1 } })
    const { rows } = await ours.store.db.query(
      `select * from (select title, language, texts from project where iati_identifier is not null or id = 106 union all
       select title, language, null from progress_report where url > 'https://p.example/r/2'
       union all select name, language, null from organisation where id = 9) all_of_them order by title collate "C"`,
    )
    expect(rows).toEqual([
      { title: 'Agua', language: 'es', texts: undefined },
      { title: 'Drei', language: 'de', texts: undefined },
      { title: 'Pozos', language: 'es', texts: { 'title@en': 'Wells' } },
      { title: 'Puits de Tara', language: 'fr', texts: undefined },
      { title: 'Wells', language: 'en', texts: { 'title@ar': 'آبار', 'title@fr': 'Puits' } },
      { title: 'أربعة', language: 'ar', texts: undefined },
    ])
    await publish()
    const titlesOf = (id: string) =>
      activities.children
        .find(({ children }) => children[0]?.text === `GB-CHC-1164883-${id}`)
        ?.children.find(({ name }) => name === 'title')
        ?.children.map(({ attributes, text }) => `${attributes['xml:lang']}: ${text}`)
    expect(titlesOf('LANGS')).toEqual(['ar: آبار', 'en: Wells', 'fr: Puits'])
    expect(titlesOf('A14')).toEqual(['en: ', 'fr: Puits de Tara'])
    // Once the platform says a title in another language, its titles take over.
    expect(
      await importing(
        'titles-projects.csv',
        lines('iatiIdentifier,externalId,title,title@es,status', 'GB-CHC-1164883-LANGS,langs,Wells,Pozos,active'),
        ' --kind projects',
      ),
    ).toMatchObject({ answer: { changed: 1 } })
    await publish()
    expect(titlesOf('LANGS')).toEqual(['undefined: Wells', 'ar: آبار', 'es: Pozos', 'fr: Puits'])
  })
})

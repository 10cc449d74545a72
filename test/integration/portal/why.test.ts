import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { explainForPages, factsFields } from '../../../src/cli/wiring/assumed-facts.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { html } from '../../../src/http/pages/html.js'
import { languages } from '../../../src/http/pages/words/words.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { testApi } from '../../support/api/api.js'
import { testConfig } from '../../support/api/api-config.js'
import { languageFiles, languageTexts } from '../../support/catalogue/language-files.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'
import { spokenTexts } from '../../support/portal/spoken-texts.js'

const readers = Object.keys(languages) as (keyof typeof languages)[]

describe('why a record says what it says', () => {
  let ours: CommandStore
  let app: FastifyInstance
  const read = async (address: string) => {
    const answer = await app.inject(address)
    expect(answer.statusCode, address).toBe(200)
    return answer.body
  }
  beforeAll(async () => {
    ours = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883', FACTS_CONFIRMED: 'yes', DEFAULT_CURRENCY: 'EUR' })
    for (const [name, text] of Object.entries(languageFiles)) {
      await writeFile(path.join(ours.folder, name), text)
      expect(await ours.run(`import ${path.join(ours.folder, name)}`)).toMatchObject({ code: 0 })
    }
    expect(await ours.run('publish --inline')).toMatchObject({ code: 0 })
    const signal = new AbortController().signal
    const runtime = await openRuntime(ours.environment, factsFields, { signal })
    ;({ app } = await testApi(ours.store, {
      ...{ store: ours.store, releases: createReleaseReader(ours.feedsDir), explain: explainForPages(runtime) },
      config: { ...testConfig, publisherName: 'Giving Platform' },
    }))
    return async () => {
      await runtime[Symbol.asyncDispose]()
      await ours.remove()
    }
  })

  it('says of every element its values, where it came from or what is assumed, and its rule', async () => {
    const { why } = languages.en
    const { children } = parseElement(await ours.read('/iati/activities.xml'), recordLimits)
    const lineOf = new Map(
      (languageFiles['projects.csv'] ?? '').split('\n').map((line, at) => [line.slice(0, 3), at + 1]),
    )
    expect(children).toHaveLength(5)
    for (const activity of children) {
      const id = activity.children[0]?.text.slice(-3) ?? ''
      const { answer } = await ours.json(`explain ${id}`)
      const { elements } = answer as {
        elements: { element: string; fields: string[]; clauses: string[]; assumed: { name: string }[] }[]
      }
      const page = await read(`/projects/${id}/why`)
      const sections = new Map(
        page.split('<section><h2><code>').map((text) => [text.slice(0, text.indexOf('<')), text] as const),
      )
      const { 'last-updated-datetime': _, ...attributes } = activity.attributes
      const names = [...Object.keys(attributes).map((name) => `@${name}`), ...activity.children.map(({ name }) => name)]
      expect([...sections.keys()].slice(1)).toEqual([...new Set(names)])
      expect(elements.map(({ element }) => element)).toEqual([...new Set(names)])
      for (const { element, fields, clauses, assumed } of elements) {
        const section = sections.get(element) ?? ''
        for (const part of [...fields, ...clauses]) expect(section).toContain(`<code>${part}</code>`)
        const reasons = Object.values(why.unstated).map((reason) => html`<dd>${reason} ${why.confirmed}</dd>`.html)
        expect(reasons.reduce((sum, one) => sum + section.split(one).length - 1, 0)).toBe(assumed.length)
        for (const [name, reason] of [
          ['flow-type', why.unstated.gifts],
          ['sector-shares', why.unstated.shares],
          ['donors', why.unstated.record],
        ] as const)
          if (assumed.some((one) => one.name === name)) expect(section).toContain(`<dd>${reason} `)
        const own = activity.children.filter(({ name }) => name === element)
        for (const one of [...own.flatMap(({ children: parts }) => parts), ...own].slice(0, 4))
          if (one.text !== '' && one.text.length < 120) expect(section).toContain(html`${one.text}`.html)
        expect(section).toMatch(/Came from|Nobody stated it/)
        if (fields.some((field) => field.startsWith('projects.')))
          expect(section).toMatch(new RegExp(`<code>projects</code> import \\d of .*, line ${lineOf.get(id)} of its`))
      }
      expect(sections.get('transaction')).toContain('the books, 2025-02 to 2025-02')
      // Names of files and folders, and keys of records, are the operator's.
      expect(page).not.toMatch(/\.csv|giving-run/)
    }
  })

  it.each(readers)(
    'is a page in %s of at most 40 kB that no search engine lists, to which the project leads',
    async (reader) => {
      const { project } = languages[reader]
      const link = html`<a href="/${reader}/projects/101/why" rel="nofollow">${project.why}</a>`.html
      expect(await read(`/${reader}/projects/101`)).toContain(link)
      const page = await read(`/${reader}/projects/101/why`)
      expect(Buffer.byteLength(page)).toBeLessThanOrEqual(40_000)
      expect(page).toContain('<meta name="robots" content="noindex, follow">')
      expect(page).toContain(html`<h1>${project.why}</h1>`.html)
      const seen = new Set<string>()
      for (const { text, language } of spokenTexts(page)) {
        for (const [words, own] of languageTexts) {
          if (!text.includes(words)) continue
          seen.add(own)
          expect([text, language]).toEqual([text, own])
        }
      }
      expect(seen.size).toBeGreaterThan(2)
    },
  )

  it('is for published projects only, and says nothing of imports that came after the release', async () => {
    expect((await app.inject('/projects/999/why')).statusCode).toBe(404)
    expect((await app.inject('/projects/101/why/more')).statusCode).toBe(404)
    // A release tells its second: what is imported in the same one may have come before it.
    const { generated } = JSON.parse(await ours.read('/feeds/manifest.json')) as { generated: string }
    while (Date.now() < Date.parse(generated) + 1000) await sleep(20)
    const later = path.join(ours.folder, 'later.csv')
    await writeFile(later, 'id,title,status,language\n102,Later,active,fr\n')
    expect(await ours.run(`import ${later} --kind projects`)).toMatchObject({ code: 0 })
    const [{ id } = { id: 0 }] = (await ours.store.db.query<{ id: number }>('select max(id) as id from import')).rows
    const page = await read('/es/projects/102/why')
    expect(page).toContain('Des bancs pour Gulu')
    expect(page).not.toMatch(new RegExp(`Later|importación ${id} `))
  })
})

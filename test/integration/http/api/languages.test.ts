import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Element } from '../../../../src/kernel/xml/element.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { type TestApi, testApi } from '../../../support/api/api.js'
import { languageFiles } from '../../../support/catalogue/language-files.js'
import { type CommandStore, commandStore } from '../../../support/commands/command-store.js'
import { someOf } from '../../../support/runner/some-of.js'

const projects = '/api/public/projectservice'
const organisations = '/api/public/orgservice'

/** Every text of a project or organisation at an address, as `id name: text`, in either format. */
function textsIn(body: string, format: 'xml' | 'json'): string[] {
  const found: string[] = []
  const told = (id: unknown, name: string, text: unknown) => {
    if (/^(title|summary|need|name|mission)$/.test(name) && text !== '') found.push(`${id} ${name}: ${text}`)
  }
  const inXml = ({ name, children }: Element) => {
    const isRecord = name === 'project' || name === 'organization'
    const id = children.find((one) => one.name === 'id')?.text
    for (const one of children) {
      if (isRecord && one.children.length === 0) told(id, one.name, one.text)
      if (!/^(themes|countries|image)$/.test(one.name)) inXml(one)
    }
  }
  const inJson = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const record = value as Readonly<Record<string, unknown>>
    for (const [name, one] of Object.entries(record)) {
      if (typeof one === 'string') told(record.id, name, one)
      else if (!/^(themes|countries|image)$/.test(name)) inJson(one)
    }
  }
  if (format === 'xml') inXml(parseElement(body))
  else inJson(JSON.parse(body))
  return found.sort()
}

describe('records in the languages of Accept-Language', () => {
  let ours: CommandStore
  let api: TestApi
  const ask = async (address: string, format: 'xml' | 'json', language?: string, more: Record<string, string> = {}) => {
    const headers = { accept: `application/${format}`, ...(language !== undefined && { 'accept-language': language }) }
    const url = `${address}${address.includes('?') ? '&' : '?'}api_key=${api.apiKey}`
    return await api.app.inject({ url, headers: { ...headers, ...more } })
  }
  beforeAll(async () => {
    ours = await commandStore({ DEFAULT_CURRENCY: 'EUR' })
    for (const [name, text] of Object.entries(languageFiles)) {
      await writeFile(path.join(ours.folder, name), text)
      expect(await ours.run(`import ${path.join(ours.folder, name)}`)).toMatchObject({ code: 0 })
    }
    api = await testApi(ours.store)
    // Records that nobody has read yet have no version in their ETag.
    for (const address of addresses) for (const format of ['xml', 'json'] as const) await ask(address, format)
    return () => ours.remove()
  })

  const addresses = [
    `${projects}/all/projects`,
    `${projects}/all/projects?limit=7`,
    `${projects}/all/projects/active/summary`,
    `${projects}/projects/101`,
    `${projects}/projects/101/summary`,
    `${projects}/projects/collection/ids?projectIds=103,101`,
    `${projects}/featured/projects`,
    '/api/public/services/search/projects?q=*',
    `${organisations}/all/organizations`,
    `${organisations}/organization/7`,
  ]

  describe.each(someOf(addresses, 3))('%s', (address) => {
    it.each(['xml', 'json'] as const)(
      'is as it was without the header, or with a language that no record has (%s)',
      async (format) => {
        const plain = await ask(address, format)
        expect([plain.statusCode, plain.headers['content-language']]).toEqual([200, undefined])
        expect(plain.headers.vary).toBe('Accept, Accept-Encoding, Accept-Language')
        for (const language of ['*', 'xx, *;q=0.1', '', '-;;q=1'])
          expect((await ask(address, format, language)).body).toBe(plain.body)
        const other = await ask(address, format, 'is')
        expect([other.body, other.headers.etag]).toEqual([plain.body, plain.headers.etag])
      },
    )

    it.each(['xml', 'json'] as const)(
      'has the texts that records have in the language, and says which (%s)',
      async (format) => {
        const plain = await ask(address, format)
        const own = textsIn(plain.body, format)
        const french = new Map([
          ['101 title: Brunnen für Tara', '101 title: Des puits pour Tara'],
          ['101 summary: Vier Brunnen.', '101 summary: Quatre puits.'],
          ['101 need: Kein Wasser.', '101 need: Pas d’eau.'],
          ['103 title: مدرسة عمان', '103 title: École d’Amman'],
        ])
        const isOfOrganisations = address.startsWith(organisations)
        const asked = isOfOrganisations ? 'en-GB' : 'fr-CA, en;q=0.4'
        const english = new Map([['7 name: Brunnen für alle e. V.', '7 name: Wells for all']])
        const wanted = new Map([...(isOfOrganisations ? [] : french), ...english])
        expect(own.some((text) => wanted.has(text))).toBe(true)
        const told = await ask(address, format, asked)
        expect(textsIn(told.body, format)).toEqual(own.map((text) => wanted.get(text) ?? text).sort())
        expect(told.headers['content-language']?.toString().split(', ')).toEqual(
          expect.arrayContaining([isOfOrganisations ? 'en' : 'fr']),
        )
        expect(told.headers.etag).not.toBe(plain.headers.etag)
        const known = { 'if-none-match': String(told.headers.etag) }
        expect((await ask(address, format, asked, known)).statusCode).toBe(304)
        expect((await ask(address, format, undefined, known)).statusCode).toBe(200)
      },
    )
  })

  it('a language of the record is preferred to one that comes later in the header, whatever the order of the texts', async () => {
    const title = async (language: string) =>
      (JSON.parse((await ask(`${projects}/projects/101`, 'json', language)).body) as { project: { title: string } })
        .project.title
    expect(await title('de, fr')).toBe('Brunnen für Tara')
    expect(await title('ar;q=0.9, fr;q=0.8')).toBe('آبار لتارا')
    expect(await title('fr;q=0.8, ar;q=0.9, de;q=0.1')).toBe('آبار لتارا')
    const { headers } = await ask(`${projects}/projects/101`, 'json', 'ar')
    // Its summary is in German only, and so is the name of its partner.
    expect(headers['content-language']).toBe('ar, de')
  })

  it('a record that cannot be written is left out, as without the header', async () => {
    await ours.store.db.query(`update project set approved_date = '0044-03-15 BC', deadline = null where id = 101`)
    for (const format of ['json', 'xml'] as const) {
      const [plain, told] = [
        await ask(`${projects}/all/projects`, format),
        await ask(`${projects}/all/projects`, format, 'fr'),
      ]
      expect([plain.statusCode, told.statusCode]).toEqual([200, 200])
      expect(told.body).not.toContain('Des puits pour Tara')
      expect(told.body).toContain('École d’Amman')
    }
  })
})

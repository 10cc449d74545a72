import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { languageFiles, lines, languageTexts as said } from '../../support/catalogue/language-files.js'
import { commandStore } from '../../support/commands/command-store.js'
import { publishedSite } from '../../support/portal/portal-site.js'
import { spokenTexts } from '../../support/portal/spoken-texts.js'

describe('pages about records in several languages', () => {
  let app: FastifyInstance
  const read = async (address: string) => {
    const answer = await app.inject(address)
    expect(answer.statusCode, address).toBe(200)
    return answer.body
  }
  beforeAll(async () => {
    const ours = await commandStore({ DEFAULT_CURRENCY: 'USD' })
    const files = {
      'themes.csv': lines('id,name,sector', 'water,,'),
      ...languageFiles,
      'gifts.csv': languageFiles['gifts.csv']?.replaceAll('EUR', 'USD') ?? '',
      'projects.csv': (languageFiles['projects.csv'] ?? '').replace(/^(.*)$/gm, (line) =>
        line === '' ? '' : `${line},${line.startsWith('id') ? 'themes' : line.startsWith('101') ? 'water' : ''}`,
      ),
    }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(path.join(ours.folder, name), text)
      expect(await ours.json(`import ${path.join(ours.folder, name)}`), name).toMatchObject({
        code: 0,
        answer: { refused: 0 },
      })
    }
    ;({ app } = await publishedSite(ours.store))
  })

  const addresses = [
    ...['', '/projects', '/projects?q=tara', '/projects?theme=water', '/organisations', '/themes', '/themes/water'],
    ...['/countries/UG', '/countries/SL', '/sectors', '/years?by=theme', '/data', '/quality'],
    ...['101', '102', '103', '104', '105'].flatMap((id) => [`/projects/${id}`, `/projects/${id}/why`]),
  ]

  it.each(['en', 'de', 'fr', 'ar', 'es'])('below /%s each text of a record says its language', async (reader) => {
    const organisations = [...(await read(`/${reader}/organisations`)).matchAll(/\/organisations\/([^"?]+)"/g)].map(
      ([, id]) => `/organisations/${id}`,
    )
    expect(organisations.length).toBeGreaterThan(0)
    const wrong: string[] = []
    const seen = new Set<string>()
    for (const address of [...addresses, ...new Set(organisations)]) {
      for (const { text, language, direction } of spokenTexts(await read(`/${reader}${address}`))) {
        for (const [words, own] of said) {
          // A sentence in Arabic of the service's own may have a German title in it, which is a name.
          if (!text.includes(words) || /cite/.test(text)) continue
          seen.add(own)
          if (own !== language)
            wrong.push(`${reader}${address}: "${text.trim().slice(0, 60)}" is ${own}, marked ${language}`)
          else if (own !== reader && direction !== (own === 'ar' ? 'rtl' : 'ltr'))
            wrong.push(`${reader}${address}: ${text} runs ${direction}`)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(seen.size).toBeGreaterThan(3)
  })

  it.each([
    ['de', 'Brunnen für Tara', 'Brunnen für alle e. V.', 'Sauberes Wasser'],
    ['fr', 'Des puits pour Tara', 'Brunnen für alle e. V.', 'Eau potable'],
    ['ar', 'آبار لتارا', 'Brunnen für alle e. V.', 'المياه النظيفة'],
    ['en', 'Brunnen für Tara', 'Wells for all', 'Clean Water'],
    ['es', 'Brunnen für Tara', 'Brunnen für alle e. V.', 'Agua potable'],
  ])(
    'a reader in %s reads what the record has in that language, else its own',
    async (reader, title, partner, theme) => {
      const page = await read(`/${reader}/projects/101`)
      expect(/<h1[^>]*>([^<]*)/.exec(page)?.[1]).toBe(title)
      for (const text of [partner, theme]) expect(page).toContain(`>${text}<`)
      expect(await read(`/${reader}/projects`)).toContain(`>${title}<`)
    },
  )

  it('a report has its title in the language of the reader, where it was given in it', async () => {
    const heading = async (reader: string) =>
      /<h3[^>]*>The pump runs|<h3[^>]*>Die Pumpe läuft/.exec(await read(`/${reader}/projects/101`))?.[0]
    expect(await heading('de')).toBe('<h3 dir="auto">Die Pumpe läuft')
    expect(await heading('fr')).toBe('<h3 lang="en" dir="ltr">The pump runs')
    expect(await read('/de/projects/101')).toMatch(/href="#report-1" dir="auto">Die Pumpe läuft/)
  })

  it('a search finds a name in any language', async () => {
    for (const words of ['puits', 'brunnen', 'آبار', 'Wells for all', 'Clean Water']) {
      const query = `q=${encodeURIComponent(words)}`
      expect(await read(`/en/projects?${query}`), words).toContain('/projects/101')
      const csv = await read(`/projects.csv?${query}`)
      expect(csv, words).toMatch(/^101,/m)
      expect(csv, words).toContain(',Brunnen für Tara,de,"{""')
      expect(csv, words).toContain('""fr"":""Des puits pour Tara""')
      const { projects } = JSON.parse(await read(`/projects.json?${query}`)) as {
        projects: { project: number; languages: unknown }[]
      }
      expect(projects.find(({ project }) => project === 101)?.languages, words).toMatchObject({
        ...{ title: 'de', titles: { fr: 'Des puits pour Tara', ar: 'آبار لتارا' } },
        ...{ partner: 'de', partners: { en: 'Wells for all' } },
      })
    }
  })
})

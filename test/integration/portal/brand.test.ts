import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { readBrand } from '../../../src/cli/wiring/brand.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { testApi } from '../../support/api/api.js'
import { testConfig } from '../../support/api/api-config.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><path d="M0 0h2v1H0z"/></svg>'

/** The example of docs/how-to/brand.md. */
const [, ofDocument = ''] = /```json\n([^`]+)```/.exec(readProjectFile('docs/how-to/brand.md')) ?? []

describe('the look of a platform', async () => {
  const folder = await temporaryFolder()
  const { store, url } = await testDatabase()
  const environment = {
    PORTAL_LOGO: path.join(folder, 'logo.svg'),
    PORTAL_COLOURS: '#14375e,#7a1f4b',
    PORTAL_WORDS_DIR: path.join(folder, 'words'),
  }
  let app: FastifyInstance

  const words = async (language: string, own: unknown) =>
    await writeFile(path.join(folder, 'words', `${language}.json`), typeof own === 'string' ? own : JSON.stringify(own))
  const brandOf = (more: Record<string, string> = {}) =>
    readBrand(readConfig({ ...environment, ...more }, ['brand']).brand)

  beforeAll(async () => {
    await mkdir(path.join(folder, 'words'))
    await writeFile(environment.PORTAL_LOGO, svg)
    await words('en', ofDocument)
    await words('fr', {
      publisher: '{1} <b>, voir {2}',
      home: { excluded: ['Rien.'] },
      footer: 'par {1}',
    })
    await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
    const publisher = await testPublisher(store)
    await publisher.publish()
    const config = { ...testConfig, brand: await brandOf() }
    app = (await testApi(store, { releases: createReleaseReader(publisher.feedsDir), config })).app
  })

  it('has the logo before the name on each page, at an address of its own', async () => {
    for (const address of ['/', '/projects', '/fr/status', '/developers', '/nothing-here']) {
      const { body } = await app.inject({ url: address, headers: { accept: 'text/html' } })
      const [, logo = ''] = /<img class="logo" src="(\/portal\/[0-9a-f]{12}\.svg)" alt=""><span/.exec(body) ?? []
      const answer = await app.inject(logo)
      expect([address, answer.body, answer.headers['content-type']]).toEqual([address, svg, 'image/svg+xml'])
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    }
  })

  it('shows the logo where the address of a page is shared, unless the record has a picture', async () => {
    for (const address of ['/', '/projects/1']) {
      const { body } = await app.inject(address)
      expect(body, address).toMatch(/<meta property="og:image" content="https?:\/\/[^"/]+\/portal\/[0-9a-f]{12}\.svg">/)
    }
  })

  it('has its colours in both schemes, and in the picture of tabs', async () => {
    const { body } = await app.inject('/')
    const [, style = ''] = /rel="stylesheet" href="([^"]+)/.exec(body) ?? []
    const [, icon = ''] = /rel="icon" href="([^"]+)/.exec(body) ?? []
    const sheet = (await app.inject(style)).body
    expect(sheet).toContain(':root { --top: #14375e; --link: #7a1f4b; --in: #7a1f4b; }')
    expect(sheet).toMatch(/dark\) \{ :root \{ --top: #14375e; --link: #[b-f]/)
    expect(decodeURIComponent(icon)).toMatch(/^data:image\/svg\+xml,<svg .*fill="#14375e"/)
  })

  it('has its own words in the place of the built-in ones, with their parts and forms', async () => {
    const english = (await app.inject('/en')).body
    expect(english).toContain('<small>open books</small>')
    expect(english).toContain('What Giving &lt;Platform&gt; did with your gifts, every day.')
    expect((await app.inject('/en/projects')).body).toContain('Being built')
    const french = (await app.inject('/fr')).body
    expect(french).toContain('<li>Rien.</li>')
    expect(french).not.toContain('open books')
    const { fr, en } = (await brandOf()).words
    expect(fr.publisher('Nous', { html: '<a href="/m">le manifeste</a>' }).html).toBe(
      'Nous &lt;b&gt;, voir <a href="/m">le manifeste</a>',
    )
    expect(fr.footer('constructor')).toBe('par constructor')
    expect([en.projects('1', 'one'), en.projects('7', 'other'), en.projects('7', 'few')]).toEqual([
      '1 well',
      '7 wells',
      '7 wells',
    ])
  })

  it.each([
    [{ home: { heading: 'x' } }, /en\.json, home\.heading: expected a key of the built-in words/],
    [{ code: 'xx' }, /en\.json, code: expected a key/],
    [{ skip: 5 }, /en\.json, skip: expected a text of 1 to 2000 characters, got 5/],
    [{ skip: ' ' }, /en\.json, skip: expected a text/],
    [{ home: 'x' }, /en\.json, home: expected an object of words, got "x"/],
    [{ home: { excluded: 'x' } }, /home\.excluded: expected a list of texts/],
    [{ footer: 'of {2}' }, /footer: expected no part but \{1\} to \{1\}, got "\{2\}"/],
    [{ projects: { one: 'one' } }, /projects: expected a text/],
    [{ __proto__: null, constructor: 'x' }, /constructor: expected a key/],
    ['{', /en\.json cannot be used: /],
  ])('refuses words that no page has: %j', async (own, message) => {
    await words('en', own)
    await expect(brandOf()).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringMatching(message),
    })
    await words('en', ofDocument)
  })

  it('refuses a language that is not the portal’s, and a logo that is no picture or is missing', async () => {
    await words('xx', {})
    await expect(brandOf()).rejects.toThrow(
      /xx\.json: expected a language of the portal \(en, fr, es, pt, de, ar\) as its name, got xx/,
    )
    await rm(path.join(folder, 'words', 'xx.json'))
    const logo = path.join(folder, 'page.html')
    await writeFile(logo, '<script>alert(1)</script>')
    const others = { PORTAL_WORDS_DIR: '' }
    await expect(brandOf({ ...others, PORTAL_LOGO: logo })).rejects.toThrow(/PORTAL_LOGO: expected a picture/)
    await expect(brandOf({ ...others, PORTAL_LOGO: path.join(folder, 'none') })).rejects.toThrow(
      /none cannot be used: /,
    )
    await writeFile(logo, Buffer.alloc(200_001, svg))
    await expect(brandOf({ ...others, PORTAL_LOGO: logo })).rejects.toThrow(/expected at most 200000 bytes, got 200001/)
  })

  it('ends the start with a sentence when people could not read the colours', async () => {
    const started = await runCommandLine(['api'], {
      ...{ DATABASE_URL: url, GIVING_DATA_DIR: folder, PORT: '0', OPS_PORT: '0', LOG_LEVEL: 'silent' },
      PORTAL_COLOURS: '#ffcc00,#08565a',
    })
    expect(started).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/PORTAL_COLOURS: .*\(these have 1\.\d and 8\.1\)/),
    })
  })
})

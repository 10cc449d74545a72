import { hash } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { IsoInstant } from '../../kernel/dates.js'
import type { Turns } from '../../kernel/turns.js'
import type { ActivityIndex, IndexReader } from '../../release/read/activity-index.js'
import type { ReleaseReader } from '../../release/read/release-reader.js'
import { type Licence, licenceOf } from './linked-data.js'
import { changePage, changesFeed, changesPage, Differences } from './pages/changes.js'
import { dataPage } from './pages/data.js'
import { framed } from './pages/frame.js'
import { type GroupPageKind, groupPage, groupPages } from './pages/group.js'
import { groupsCsv, groupsPage, monthsCsv } from './pages/groups.js'
import { homePage } from './pages/home.js'
import { projectPage } from './pages/project.js'
import { projectCsv } from './pages/project-csv.js'
import { projectListCsv, projectListJson } from './pages/project-list.js'
import { definedOf, type ListQuery, projectsPage } from './pages/projects.js'
import { qualityPage } from './pages/quality.js'
import { sitemap } from './pages/sitemap.js'
import { whyPage } from './pages/why.js'
import { type YearsQuery, yearsCsv, yearsJson, yearsPage, yearsParameters } from './pages/years.js'
import { ProjectIndex } from './project-index.js'
import { findEntry } from './read-project.js'
import { type Language, namesOf, type PageBody, type View } from './view.js'

const compress = promisify(gzip)

/** What readers may ask pages for. */
export type PageParameters = ListQuery & YearsQuery

/** What is asked for; `address` is the path without the language that the reader chose, if any. */
export type PageRequest = {
  readonly address: string
  readonly query: PageParameters
  readonly language: Language
  readonly isChosen: boolean
  /** Who asks: clients take turns. */
  readonly client: string
}

/** An answer of the portal, as bytes that are made once for a release; in gzip when that is first asked for. */
export type RenderedPage = {
  readonly release: string
  /** When the release was generated. */
  readonly generated: IsoInstant
  readonly mediaType: string
  readonly tag: string
  readonly identity: Buffer
  readonly gzip: () => Promise<Buffer>
}

// Rendered pages that are kept, with their gzip twins.
const keptBytes = 40 * 1_048_576
/** How long the page of a project is kept. */
const projectMs = 60_000

const htmlType = 'text/html; charset=utf-8'
const fileTypes: ReadonlyMap<string, string> = new Map([
  ['.atom', 'application/atom+xml; charset=utf-8'],
  ['.csv', 'text/csv; charset=utf-8; header=present'],
  ['.json', 'application/json; charset=utf-8'],
  ['.xml', 'application/xml; charset=utf-8'],
])

/** What pages say that is the operator's and not the release's. */
type Site = Pick<View, 'publisherName' | 'projectLinkTemplate' | 'brand' | 'contact' | 'explain'> &
  Partial<Pick<View, 'takesSubscriptions' | 'gifts'>> & { readonly baseUrl: () => string }

type Opened = Pick<View, 'release' | 'index' | 'projectIndex' | 'licence'>

/** Draws pages from the live release alone. Each page is wholly of one release. */
export class Portal {
  readonly differences: Differences
  readonly #releases: ReleaseReader
  readonly #readIndex: IndexReader
  readonly #turns: Turns
  readonly #site: Site
  #opening: Promise<Opened | undefined> | undefined
  readonly #projectIndexes = new WeakMap<ActivityIndex, Promise<ProjectIndex>>()
  #drawnRelease: string | undefined
  #licence: Licence | undefined
  /** Of the live release. Requests for a page that is being drawn wait for it. */
  readonly #pages = new LRUCache<string, RenderedPage, { readonly view: View; readonly request: PageRequest }>({
    maxSize: keptBytes,
    // Half of the page's size is enough for its gzip twin.
    sizeCalculation: ({ identity }, key) => Math.ceil(1.5 * identity.length) + key.length + 300,
    fetchMethod: async (_key, _stale, { options, context: { view, request } }) => {
      // What gifts do is no part of a release.
      if (request.address.startsWith('/projects/')) options.ttl = projectMs
      return await this.#turns.take(request.client, async () => await this.#render(view, request))
    },
    // Waiting requests get the page even when it was evicted meanwhile.
    ignoreFetchAbort: true,
  })

  constructor(releases: ReleaseReader, readIndex: IndexReader, turns: Turns, site: Site) {
    this.#turns = turns
    this.#releases = releases
    this.#readIndex = readIndex
    this.#site = site
    this.differences = new Differences(releases, readIndex)
  }

  /** As `#openLive`; requests that come while it is looked up share the look-up, which costs more than sending a page. */
  async #open(): Promise<Opened | undefined> {
    this.#opening ??= this.#openLive().finally(() => {
      this.#opening = undefined
    })
    return await this.#opening
  }

  /** The live release with what pages need; undefined before the first, and while the live one is of an earlier version. */
  async #openLive(): Promise<Opened | undefined> {
    const release = await this.#releases.live()
    const index = release && (await this.#readIndex(release))
    if (!index) return undefined
    // Pages of earlier releases are not served any more.
    if (release.id !== this.#drawnRelease) {
      this.#pages.clear()
      this.#licence = await licenceOf(release)
    }
    this.#drawnRelease = release.id
    const known = this.#projectIndexes.get(index) ?? ProjectIndex.of(release, index, namesOf)
    this.#projectIndexes.set(index, known)
    return { release, index, projectIndex: await known, licence: this.#licence }
  }

  /** Whether there is a release that pages can be drawn from. */
  async isReady(): Promise<boolean> {
    return (await this.#open()) !== undefined
  }

  /** The page at an address. `unready`: there is no release to draw it from; undefined: there is no such page. */
  async page(request: PageRequest): Promise<RenderedPage | 'unready' | undefined> {
    const opened = await this.#open()
    if (!opened) return 'unready'
    const query = queryOf(request)
    const search = new URLSearchParams(query).toString()
    const address = search === '' ? request.address : `${request.address}?${search}`
    const view = this.#view(opened, request, address)
    const key = [opened.release.id, request.language, request.isChosen, view.baseUrl, address].join(' ')
    const known = this.#pages.get(key)
    if (known) return known
    return await this.#pages.fetch(key, { context: { view, request: { ...request, query } } })
  }

  #view(opened: Opened, { language, isChosen }: Pick<PageRequest, 'language' | 'isChosen'>, address: string): View {
    return {
      ...opened,
      language,
      words: this.#site.brand.words[language],
      prefix: isChosen ? `/${language}` : '',
      address,
      baseUrl: this.#site.baseUrl(),
      publisherName: this.#site.publisherName,
      projectLinkTemplate: this.#site.projectLinkTemplate,
      brand: this.#site.brand,
      takesSubscriptions: this.#site.takesSubscriptions ?? false,
      contact: this.#site.contact,
      explain: this.#site.explain,
      gifts: this.#site.gifts,
    }
  }

  /**
   * All projects of a list as text that is made while it is read, since it may have all of a release. Its names are in
   * English. Undefined when there is no release.
   */
  async projectList(
    form: 'csv' | 'json',
    query: ListQuery,
    client: string,
  ): Promise<
    { readonly tag: string; readonly generated: IsoInstant; readonly text: AsyncIterable<string | Buffer> } | undefined
  > {
    const opened = await this.#open()
    if (!opened) return undefined
    const { page: _, ...whole } = definedOf(query)
    const view = this.#view(opened, { language: 'en', isChosen: false }, '/projects')
    const make = form === 'csv' ? projectListCsv : projectListJson
    const { id, manifest } = opened.release
    const tag = hash('sha256', JSON.stringify([id, view.baseUrl, form, whole]), 'base64url').slice(0, 27)
    return { tag, generated: manifest.generated, text: this.#inTurns(client, make(view, whole)) }
  }

  /** Parts of a long answer, each made in its client's turn among pages. */
  async *#inTurns(client: string, parts: AsyncGenerator<string | Buffer>): AsyncGenerator<string | Buffer> {
    for (;;) {
      const part = await this.#turns.take(client, async () => await parts.next())
      if (part.done) return
      yield part.value
    }
  }

  async #render(view: View, { address, query }: PageRequest): Promise<RenderedPage | undefined> {
    const drawn = await this.#draw(view, address, query)
    if (!drawn) return undefined
    const identity = Buffer.from(drawn.text)
    let twin: Promise<Buffer> | undefined
    return {
      release: view.release.id,
      generated: view.release.manifest.generated,
      mediaType: drawn.mediaType,
      tag: hash('sha256', identity, 'base64url').slice(0, 27),
      identity,
      gzip: () => {
        twin ??= compress(identity)
        return twin
      },
    }
  }

  async #draw(
    view: View,
    address: string,
    query: PageRequest['query'],
  ): Promise<{ text: string; mediaType: string } | undefined> {
    const file = await this.#file(view, address, query)
    if (file !== undefined) return { text: file, mediaType: fileTypes.get(path.extname(address)) ?? htmlType }
    const body = await this.#body(view, address, query)
    return body && { text: framed(view, body), mediaType: htmlType }
  }

  /** The text of an address that has no frame; undefined for pages. */
  async #file(view: View, address: string, query: PageRequest['query']): Promise<string | undefined> {
    if (address === '/changes.atom') return await changesFeed(view, this.differences)
    if (address.startsWith('/sitemap')) return sitemap(view)
    if (address === '/years.json') return await yearsJson(view, query)
    const [, project, name = ''] = /^\/(?:projects\/(\d{1,15})|([a-z]+))\.csv$/.exec(address) ?? []
    if (project !== undefined) return await projectCsv(view, Number(project))
    if (name === 'months') return monthsCsv(view)
    if (name === 'years') return await yearsCsv(view, query)
    return Object.hasOwn(groupPages, name) ? groupsCsv(view, name as GroupPageKind) : undefined
  }

  async #body(view: View, address: string, query: PageRequest['query']): Promise<PageBody | undefined> {
    const [, kind = '', ...rest] = address.split('/')
    const key = rest.map(decodeURIComponent).join('/')
    if (Object.hasOwn(groupPages, kind)) {
      return key === ''
        ? groupsPage(view, kind as GroupPageKind, query)
        : await groupPage(view, kind as GroupPageKind, key)
    }
    if (kind === 'projects' && rest.length === 2 && rest[1] === 'why') return await whyPage(view, rest[0] ?? '')
    if (rest.length > 1) return undefined
    switch (kind) {
      case '':
        return await homePage(view)
      case 'projects':
        return key === '' ? projectsPage(view, query) : await projectPage(view, key)
      case 'data':
        return key === '' ? dataPage(view) : undefined
      case 'quality':
        return key === '' ? await qualityPage(view, this.differences) : undefined
      case 'years':
        return key === '' ? await yearsPage(view, query) : undefined
      case 'changes':
        return key === '' ? await changesPage(view, this.differences) : await changePage(view, this.differences, key)
      default:
        return undefined
    }
  }

  /** The title of the project of this number; undefined when it has no published record. */
  async titleOf(id: string): Promise<string | undefined> {
    const opened = await this.#open()
    return opened && findEntry(opened, id)?.title
  }

  /** The project that one of the demo's own pages is about; undefined when there is none. */
  async projectOfPage(path: string): Promise<number | undefined> {
    const opened = await this.#open()
    const place = opened?.projectIndex.placeOfPage.get(path)
    return place === undefined ? undefined : opened?.projectIndex.entry(place).project
  }

  /** The key of the partner that is published under a name; undefined when there is none. */
  async partnerNamed(name: string): Promise<string | undefined> {
    const groups = (await this.#open())?.projectIndex.groups.organisations.values() ?? []
    for (const group of groups) if (group.name === name) return group.key
    return undefined
  }
}

/** The part of a query that an address knows. */
function queryOf({ address, query }: PageRequest): PageParameters {
  if (isList(address)) return definedOf(query)
  const names = /^\/years(?:\.csv|\.json)?$/.test(address) ? yearsParameters : []
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}

/** Whether the query of an address chooses what it shows. */
function isList(address: string): boolean {
  return address === '/projects' || Object.hasOwn(groupPages, address.slice(1))
}

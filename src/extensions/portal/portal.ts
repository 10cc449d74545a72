import { hash } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { framed } from '../../http/pages/frame.js'
import { licenceOf } from '../../http/pages/linked-data.js'
import type { Language, PageBody } from '../../http/pages/page.js'
import type { IsoInstant } from '../../kernel/dates.js'
import { InFlight } from '../../kernel/in-flight.js'
import type { Turns } from '../../kernel/turns.js'
import { createRest } from '../../kernel/yielder.js'
import type { ActivityIndex, IndexReader } from '../../release/read/activity-index.js'
import type { ReadableRelease, ReleaseReader } from '../../release/read/release-reader.js'
import { AskedKeys } from './asked-keys.js'
import { changePage, changesFeed, changesPage, Differences } from './pages/changes.js'
import { dataPage } from './pages/data.js'
import { groupPage, groupPages } from './pages/group.js'
import { groupsCsv, groupsPage, monthsCsv } from './pages/groups.js'
import { homePage } from './pages/home.js'
import { projectPage } from './pages/project.js'
import { projectCsv } from './pages/project-csv.js'
import { projectListCsv, projectListJson } from './pages/project-list.js'
import { definedOf, type ListQuery, listParameters, projectsPage } from './pages/projects.js'
import { qualityPage } from './pages/quality.js'
import { sitemap } from './pages/sitemap.js'
import { whyPage } from './pages/why.js'
import { type YearsQuery, yearsCsv, yearsJson, yearsPage, yearsParameters } from './pages/years.js'
import { ProjectIndex } from './project-index.js'
import { namesOf, type View } from './view.js'

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
type RenderedPage = {
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
/** How often the portal looks for a new release that nobody has asked for. */
const aheadMs = 250
/** With so many activities, pages of the release before are served until one is opened. */
const manyActivities = 2_000

const htmlType = 'text/html; charset=utf-8'
const fileTypes: ReadonlyMap<string, string> = new Map([
  ['.atom', 'application/atom+xml; charset=utf-8'],
  ['.csv', 'text/csv; charset=utf-8; header=present'],
  ['.json', 'application/json; charset=utf-8'],
  ['.xml', 'application/xml; charset=utf-8'],
])

/** What pages say that is the operator's and not the release's. */
type Site = Pick<
  View,
  'publisherName' | 'projectLinkTemplate' | 'brand' | 'contact' | 'explain' | 'takesSubscriptions' | 'gifts'
> & { readonly baseUrl: () => string }

type Opened = Pick<View, 'release' | 'index' | 'projectIndex' | 'licence'>

/** Draws pages from the live release alone. Each page is wholly of one release. */
export class Portal {
  readonly differences: Differences
  readonly #releases: ReleaseReader
  readonly #readIndex: IndexReader
  readonly #turns: Turns
  readonly #site: Site
  #opening: Promise<Opened | undefined> | undefined
  readonly #making = new InFlight<Opened | undefined>()
  /** The id of the live release, and what was opened last. */
  #live: string | undefined
  #opened: Opened | undefined
  readonly #projectIndexes = new WeakMap<ActivityIndex, Promise<ProjectIndex>>()
  readonly #searches = new AskedKeys()
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

  /**
   * The live release with what pages need; undefined before the first, and while the live one is of an earlier version. A large
   * one takes seconds to open: until then pages are of the one before, whose files stay for days.
   */
  async #openLive(): Promise<Opened | undefined> {
    const release = await this.#releases.live()
    const before = this.#opened
    this.#live = release?.id
    if (!release || release.id === before?.release.id) return release && before
    const canWait = before !== undefined && before.index.count > manyActivities
    const opening = this.#making.get(release.id, () => this.#openRelease(release, canWait))
    if (!canWait) return await opening
    // Who asks next meets the failure.
    opening.catch(() => {
      this.#opened = undefined
    })
    return before
  }

  /** `canWait`: pages of another one are served meanwhile, and should not wait for this work. */
  async #openRelease(release: ReadableRelease, canWait: boolean): Promise<Opened | undefined> {
    const pause = canWait ? createRest() : undefined
    const index = await this.#readIndex(release, pause)
    const known = index && (this.#projectIndexes.get(index) ?? ProjectIndex.of(release, index, namesOf, pause))
    if (known) {
      this.#projectIndexes.set(index, known)
      known.catch(() => this.#projectIndexes.delete(index))
    }
    // A failure is that of the search that waits for the texts.
    if (canWait) await (await known)?.whole().catch(() => undefined)
    const opened = known && { release, index, projectIndex: await known, licence: await licenceOf(release) }
    if (release.id !== this.#live) return opened
    // Pages of earlier releases are not served any more.
    this.#pages.clear()
    this.#opened = opened
    return opened
  }

  /**
   * Opens each release soon after it is live, and draws a page of each kind: who asks first would wait for its words, and for
   * code that was never called. The returned function ends that.
   */
  openAhead(): () => void {
    let drawn: string | undefined
    const draw = async () => {
      const opened = await this.#open()
      if (!opened || opened.release.id === drawn) return
      drawn = opened.release.id
      const project = opened.projectIndex.project(0)
      const request = { query: {}, language: 'en', isChosen: false, client: '' } as const
      for (const address of ['/', '/projects', `/projects/${project}`]) await this.page({ ...request, address })
    }
    // A failure is that of the request that meets it.
    const timer = setInterval(() => void draw().catch(() => undefined), aheadMs).unref()
    return () => clearInterval(timer)
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
    const key = [opened.release.id, request.language, request.isChosen, this.#site.baseUrl(), address].join(' ')
    const known = this.#pages.get(key)
    if (known) return known
    const view = this.#view(opened, request, address)
    if (query.q !== undefined && !this.#searches.isAskedAgain(key)) {
      return await this.#turns.take(request.client, async () => await this.#render(view, { ...request, query }))
    }
    return await this.#pages.fetch(key, { context: { view, request: { ...request, query } } })
  }

  #view(opened: Opened, { language, isChosen }: Pick<PageRequest, 'language' | 'isChosen'>, address: string): View {
    const { brand, baseUrl } = this.#site
    const prefix = isChosen ? `/${language}` : ''
    return { ...this.#site, ...opened, language, words: brand.words[language], prefix, address, baseUrl: baseUrl() }
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
    const { page: _, ...whole } = definedOf(query, listParameters)
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
    const file = await this.#file(view, address, query)
    const body = file === undefined ? await this.#body(view, address, query) : undefined
    const text = file ?? (body && framed(view, body))
    if (text === undefined) return undefined
    const identity = Buffer.from(text)
    let twin: Promise<Buffer> | undefined
    return {
      release: view.release.id,
      generated: view.release.manifest.generated,
      mediaType: (file !== undefined && fileTypes.get(path.extname(address))) || htmlType,
      tag: hash('sha256', identity, 'base64url').slice(0, 27),
      identity,
      gzip: () => {
        twin ??= compress(identity)
        return twin
      },
    }
  }

  /** The text of an address that has no frame; undefined for pages. */
  async #file(view: View, address: string, query: PageRequest['query']): Promise<string | undefined> {
    if (address === '/changes.atom') return await changesFeed(view, this.differences)
    if (address.startsWith('/sitemap')) return sitemap(view)
    if (address === '/years.json') return await yearsJson(view, query)
    const [, project, name = ''] = /^\/(?:projects\/(\d{1,15})|([a-z]+))\.csv$/.exec(address) ?? []
    if (project !== undefined) return await projectCsv(view, project)
    if (name === 'months') return monthsCsv(view)
    if (name === 'years') return await yearsCsv(view, query)
    const kind = groupPages.find((one) => one === name)
    return kind && groupsCsv(view, kind)
  }

  async #body(view: View, address: string, query: PageRequest['query']): Promise<PageBody | undefined> {
    const [, kind = '', ...rest] = address.split('/')
    const key = rest.map(decodeURIComponent).join('/')
    const groups = groupPages.find((one) => one === kind)
    if (groups) return key === '' ? groupsPage(view, groups, query) : await groupPage(view, groups, key)
    if (rest[1] === 'why') return await whyPage(view, rest[0] ?? '')
    switch (kind) {
      case '':
        return await homePage(view)
      case 'projects':
        return await (key === '' ? projectsPage(view, query) : projectPage(view, key))
      case 'data':
        return dataPage(view)
      case 'quality':
        return await qualityPage(view, this.differences)
      case 'years':
        return await yearsPage(view, query)
      case 'changes':
        return await (key === '' ? changesPage(view, this.differences) : changePage(view, this.differences, key))
    }
    return undefined
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
  const isList = ['projects', ...groupPages].includes(address.slice(1))
  const ofYears = /^\/years(?:\.csv|\.json)?$/.test(address) ? yearsParameters : []
  return definedOf(query, isList ? listParameters : ofYears)
}

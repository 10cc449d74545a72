import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { seed } from '../../src/demo/sql/seed.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js'
import { allowEverything } from '../../test/support/store/administrator.js'
import { officialFiles } from '../../test/support/values/borrowed-files.js'
import { transpileProgram } from './program.js'
import { baseUrl, currency, firstRunAt, seededDay } from './settings.js'
import { type BenchWorker, openProcess } from './worker.js'

/** What to seed; equal values give equal rows. */
export type Rows = {
  readonly projects: number
  /**
   * `small`: 6 months of money, without photos and reports: activities of about 8 KB with 10 transactions. `varied`: 12 to
   * 60 months and everything else: about 29 KB.
   */
  readonly size: 'small' | 'varied'
  /** Every project rendered as well, with every check, in a process of its own. */
  readonly rendered?: boolean
  /** No other bench needs the same: the database is used itself, not a clone. */
  readonly once?: boolean
}

/** A database for one bench; leaving its scope drops it. */
export type BenchDatabase = AsyncDisposable & { readonly store: Store; readonly url: string }

/** A PostgreSQL server and a folder for the whole suite, created on first use and removed when it is disposed of. */
export class Workshop implements AsyncDisposable {
  readonly #progress: (what: string) => void
  #folder: Promise<string> | undefined
  #server: Promise<EmbeddedPostgres> | undefined
  #program: Promise<string> | undefined
  readonly #shared = new Map<string, Promise<string>>()
  readonly #atEnd: (() => Promise<void>)[] = []
  /** Seeded databases that others are cloned from, by what is in them. */
  readonly #templates = new Map<string, Promise<string>>()

  constructor(progress: (what: string) => void) {
    this.#progress = progress
  }

  /** A new folder. */
  async folder(name: string): Promise<string> {
    this.#folder ??= mkdtemp(path.join(tmpdir(), 'giving-bench-'))
    const folder = path.join(await this.#folder, `${name}-${randomBytes(4).toString('hex')}`)
    await mkdir(folder)
    return folder
  }

  /** The folder of this name that benches share. */
  sharedFolder(name: string): Promise<string> {
    const folder = this.#shared.get(name) ?? this.folder(name)
    this.#shared.set(name, folder)
    return folder
  }

  /** Removes something when the suite ends. */
  atEnd(remove: () => Promise<void>): void {
    this.#atEnd.push(remove)
  }

  /** The folder of the transpiled program; processes of their own start from it. */
  program(): Promise<string> {
    this.#program ??= transpileProgram()
    return this.#program
  }

  /** A worker in a process of its own, with every check; it stores nothing where it `discards`. */
  async worker(url: string, feedsDir: string, discards = false): Promise<BenchWorker> {
    return openProcess(await this.program(), { url, feedsDir, checks: 'all', standardDir: officialFiles(), discards })
  }

  /** A migrated database with seeded projects, vacuumed and analysed. Benches that ask for the same share the seeding. */
  async seeded(rows: Rows): Promise<BenchDatabase> {
    const name = `bench_${randomBytes(4).toString('hex')}`
    if (rows.once) return await this.#use(await this.#make(name, rows))
    const key = `${rows.rendered ? 'rendered' : 'seeded'}_${rows.size}_${rows.projects}`
    const template = this.#templates.get(key) ?? this.#make(key, rows)
    this.#templates.set(key, template)
    await this.#admin(`create database ${name} template ${await template} strategy file_copy`)
    return await this.#use(name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const remove of this.#atEnd) await remove()
    const server = await this.#server?.catch(() => undefined)
    await server?.release()
    if (server) await rm(server.clusterDir, { recursive: true, force: true })
    const program = await this.#program?.catch(() => undefined)
    if (program !== undefined) await rm(program, { recursive: true, force: true })
    const folder = await this.#folder
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }

  async #use(name: string): Promise<BenchDatabase> {
    const url = await this.#urlOf(name)
    const store = openStore({ url, max: 4, applicationName: 'bench' })
    return {
      store,
      url,
      [Symbol.asyncDispose]: async () => {
        await store.close()
        await this.#admin(`drop database ${name} with (force)`)
      },
    }
  }

  async #make(name: string, rows: Rows): Promise<string> {
    return rows.rendered ? await this.#render(name, rows) : await this.#seed(name, rows)
  }

  async #seed(name: string, { projects, size }: Rows): Promise<string> {
    await this.#admin(`create database ${name}`)
    await using store = openStore({ url: await this.#urlOf(name), max: 1, applicationName: 'bench' })
    await migrate(store)
    this.#progress(`seeding ${projects} projects`)
    await seed(store, {
      ...{ projects, source: 'local', today: seededDay, currency, baseUrl, firstId: 1 },
      ...(size === 'small' && { months: 6 }),
      onProgress: (done, total) => this.#progress(`seeding: ${done} of ${total} projects`),
    })
    if (size === 'small') {
      await store.db.query('delete from photo')
      await store.db.query('delete from progress_report')
    }
    await store.db.query('vacuum analyze')
    return name
  }

  async #render(name: string, { projects, size }: Rows): Promise<string> {
    const database = await this.seeded({ projects, size })
    this.#progress(`rendering ${projects} projects`)
    {
      await using worker = await this.worker(database.url, await this.folder('unused'))
      await worker.run({ at: firstRunAt.toISOString() })
    }
    await database.store.db.query('vacuum analyze')
    await database.store.close()
    await this.#admin(`alter database ${new URL(database.url).pathname.slice(1)} rename to ${name}`)
    return name
  }

  async #admin(statement: string): Promise<void> {
    await using store = openStore({ url: (await this.#open()).url, max: 1, applicationName: 'bench' })
    await store.db.query(statement)
  }

  async #urlOf(database: string): Promise<string> {
    const url = new URL((await this.#open()).url)
    url.pathname = `/${database}`
    return url.href
  }

  #open(): Promise<EmbeddedPostgres> {
    this.#server ??= this.folder('postgres').then(async (dataDir) => {
      const server = await openEmbeddedPostgres({ dataDir })
      await allowEverything(dataDir, server.url)
      return server
    })
    return this.#server
  }
}

import { createHash } from 'node:crypto'
import { open, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { create } from 'xmlbuilder2'
import { projectGraphs } from '../../src/catalogue/sql/project-graphs.js'
import { newIdentifier, toActivity } from '../../src/iati/mapping/activity.js'
import { rowsOf, tables } from '../../src/iati/tables/tables.js'
import { createXsdValidator } from '../../src/iati/validation/index.js'
import { isoInstantOf } from '../../src/kernel/dates.js'
import type { ProjectGraph } from '../../src/kernel/project.js'
import type { Element } from '../../src/kernel/xml/element.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { peakMemoryMiB } from '../suite/memory.js'
import { firstRunAt, mappingConfig, seededDay } from '../suite/settings.js'

/** The arguments of the process: a database with projects 1 to `projects`, and the path of the file. */
export type XmlBuilder2Task = {
  readonly url: string
  readonly projects: number
  readonly file: string
  /** With a folder of the official schemas: the same work as ours. Without: one tree, then `end`. */
  readonly standardDir?: string
}

export type XmlBuilder2Result = {
  readonly seconds: number
  /** Of the process, all threads together. */
  readonly cpuSeconds: number
  readonly peakMiB: number
}

type Project = { readonly graph: ProjectGraph; readonly activity: Element }

const head = { version: '2.03', 'generated-datetime': isoInstantOf(firstRunAt) }
const batch = 100

async function* batches(store: Store, projects: number): AsyncGenerator<Project[]> {
  for (let from = 1; from <= projects; from += batch) {
    const ids = Array.from({ length: Math.min(batch, projects - from + 1) }, (_, index) => from + index)
    const graphs = await store.snapshot((db) => projectGraphs(db, ids))
    yield graphs.map((graph) => {
      const identifier = newIdentifier(mappingConfig, graph.project)
      return { graph, activity: toActivity(graph, mappingConfig, seededDay, identifier).element }
    })
  }
}

/** The whole file as xmlbuilder2's documentation makes one: one tree, then `end`. It checks and stores nothing. */
async function writeTree(store: Store, { projects, file }: XmlBuilder2Task): Promise<void> {
  const document = create({ version: '1.0', encoding: 'UTF-8' })
  const root = document.ele('iati-activities', head)
  for await (const some of batches(store, projects)) for (const { activity } of some) addTo(root, activity)
  await writeFile(file, document.end())
}

/**
 * What a release has, by the same library an activity at a time: the official schema, SHA-256, a gzip twin, CSV of the tables, and
 * a project's full and short record in XML and JSON in PostgreSQL. No rules of our own, notices, Parquet, feeds or catalogues.
 */
async function publish(store: Store, { projects, file }: XmlBuilder2Task, standardDir: string): Promise<void> {
  const xsd = await createXsdValidator(standardDir)
  if (!xsd) throw new Error(`no official schemas in ${standardDir}`)
  await store.db.query('drop table if exists peer_text')
  await store.db.query(
    'create table peer_text (id bigint primary key, text text, hash text, xml text, json text, short_xml text, short_json text)',
  )
  const whole = createHash('sha256')
  const [identity, twin] = [await open(file, 'w'), await open(`${file}.gz`, 'w')]
  const csv = await Promise.all(tables.map(({ name }) => open(`${file}.${name}.csv`, 'w')))
  const append = async (text: string) => {
    whole.update(text)
    await identity.write(text)
    await twin.write(await promisify(gzip)(text, { level: 1 }))
  }
  const openTag = create().ele('iati-activities', head).end({ headless: true }).replace('/>', '>')
  await append(`<?xml version="1.0" encoding="UTF-8"?>${openTag}`)
  for await (const some of batches(store, projects)) {
    const texts = some.map(({ activity }) => xml((root) => addTo(root, activity)))
    if (xsd.validate(texts, 'activity').some((notices) => notices.length > 0)) throw new Error('the schema refuses one')
    await append(texts.join(''))
    for (const [index, table] of tables.entries()) {
      const rows = some.flatMap(({ activity }) => [...rowsOf(table, activity)])
      await csv[index]?.write(rows.map((row) => `${row.map(cell).join(',')}\r\n`).join(''))
    }
    const records = some.map(({ graph }) => [
      xml((root) => root.ele({ project: graph })),
      JSON.stringify(graph),
      xml((root) => root.ele({ project: graph.project })),
      JSON.stringify(graph.project),
    ])
    const hashes = texts.map((text) => createHash('sha256').update(text).digest('hex'))
    await store.db.query(
      'insert into peer_text select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])',
      [
        some.map(({ graph }) => graph.project.id),
        texts,
        hashes,
        ...[0, 1, 2, 3].map((at) => records.map((one) => one[at])),
      ],
    )
  }
  await append('</iati-activities>')
  await writeFile(`${file}.sha256`, whole.digest('hex'))
  for (const handle of [identity, twin, ...csv]) {
    await handle.sync()
    await handle.close()
  }
  xsd.dispose()
}

function xml(add: (root: ReturnType<typeof create>) => unknown): string {
  const document = create()
  add(document)
  return document.end({ headless: true })
}

function cell(value = ''): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

const task = JSON.parse(process.argv[2] ?? '') as XmlBuilder2Task
await using store = openStore({ url: task.url, max: 1, applicationName: 'bench xmlbuilder2' })
const began = performance.now()
const before = process.cpuUsage()
await (task.standardDir === undefined ? writeTree(store, task) : publish(store, task, task.standardDir))
const { user, system } = process.cpuUsage(before)
const result: XmlBuilder2Result = {
  seconds: (performance.now() - began) / 1000,
  cpuSeconds: (user + system) / 1e6,
  peakMiB: peakMemoryMiB(),
}
process.stdout.write(`${JSON.stringify(result)}\n`)

/** Adds an element with its content to a node of xmlbuilder2. */
function addTo(parent: ReturnType<typeof create>, { name, attributes, children, text }: Element): void {
  const node = parent.ele(name, attributes)
  for (const child of children) addTo(node, child)
  if (text !== '') node.txt(text)
}

import { writeFile } from 'node:fs/promises'
import { create } from 'xmlbuilder2'
import { projectGraphs } from '../../src/catalogue/sql/project-graphs.js'
import { newIdentifier, toActivity } from '../../src/iati/mapping/activity.js'
import { isoInstantOf } from '../../src/kernel/dates.js'
import { openStore } from '../../src/platform/database/store.js'
import { addTo } from '../mapping/peers.js'
import { peakMemoryMiB } from '../suite/memory.js'
import { firstRunAt, mappingConfig, seededDay } from '../suite/settings.js'

/** The arguments of the process: a database with projects 1 to `projects`, and the path of the file. */
export type XmlBuilder2Task = { readonly url: string; readonly projects: number; readonly file: string }

export type XmlBuilder2Result = { readonly seconds: number; readonly bytes: number; readonly peakMiB: number }

/** The whole file as xmlbuilder2's documentation makes one: one tree, then `end`. It checks and stores nothing. */
async function publish({ url, projects, file }: XmlBuilder2Task): Promise<XmlBuilder2Result> {
  await using store = openStore({ url, max: 1, applicationName: 'bench xmlbuilder2' })
  const began = performance.now()
  const document = create({ version: '1.0', encoding: 'UTF-8' })
  const root = document.ele('iati-activities', { version: '2.03', 'generated-datetime': isoInstantOf(firstRunAt) })
  const batch = 100
  for (let from = 1; from <= projects; from += batch) {
    const ids = Array.from({ length: Math.min(batch, projects - from + 1) }, (_, index) => from + index)
    for (const graph of await store.snapshot((db) => projectGraphs(db, ids))) {
      addTo(root, toActivity(graph, mappingConfig, seededDay, newIdentifier(mappingConfig, graph.project)).element)
    }
  }
  const text = document.end()
  await writeFile(file, text)
  const seconds = (performance.now() - began) / 1000
  return { seconds, bytes: Buffer.byteLength(text), peakMiB: peakMemoryMiB() }
}

const result = await publish(JSON.parse(process.argv[2] ?? '') as XmlBuilder2Task)
process.stdout.write(`${JSON.stringify(result)}\n`)

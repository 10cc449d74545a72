import { projectGraphs } from '../../store/project-graphs.js'
import type { Store } from '../../store/store.js'
import { saveWireRecords, type WireFormat, type WireRow } from '../../store/wire-records.js'
import { projectMapping, projectRecord } from '../../wire/project.js'

/**
 * The rows' ready texts in their order. Those that are missing are rendered from one snapshot and kept for later reads;
 * a project that has been deleted meanwhile is left out.
 */
export async function projectTexts(store: Store, format: WireFormat, rows: readonly WireRow[]): Promise<string[]> {
  const missing = rows.filter((row) => row.text === undefined).map((row) => row.id)
  const rendered = missing.length === 0 ? new Map<number, string>() : await renderMissing(store, format, missing)
  return rows.flatMap((row) => row.text ?? rendered.get(row.id) ?? [])
}

async function renderMissing(store: Store, format: WireFormat, ids: readonly number[]): Promise<Map<number, string>> {
  const graphs = await store.snapshot((db) => projectGraphs(db, ids))
  const records = graphs.map((graph) => ({
    projectId: graph.project.id,
    version: graph.version,
    ...projectRecord(graph),
  }))
  await saveWireRecords(store.db, projectMapping, records)
  return new Map(records.map((record) => [record.projectId, record[format]]))
}

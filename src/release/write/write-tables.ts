import { type TableFormat, tableFormats } from '../../iati/addresses.js'
import type { Table } from '../../iati/tables/tables.js'
import type { Connection } from '../../platform/database/connection.js'
import { inOneBatch, type TextsOfFiles } from '../bytes/texts.js'
import type { Draft, Writing } from '../folder/draft.js'
import type { PlannedFile, TableContent, TableSection } from '../plan/planned-file.js'
import type { ReadableRelease } from '../read/release-reader.js'
import { joinParquet } from '../tables/parquet-table.js'
import { tableHeader } from '../tables/table-pieces.js'
import { fewFiles, tableTexts, textsOfFew } from '../tables/table-texts.js'

export type PlannedTable = PlannedFile & { readonly content: TableContent }

type MissingSection = TableSection & { readonly table: Table; readonly format: TableFormat }

/**
 * Writes tables into a draft. Sections with the same rows are carried over from the live release; those of the same activities
 * are written in one pass over them, or in one for each format.
 */
export async function* writeTables(
  draft: Draft,
  live: ReadableRelease | undefined,
  client: Connection,
  tables: readonly PlannedTable[],
  signal: AbortSignal,
): AsyncGenerator<[PlannedTable, Writing]> {
  const passes = new Map<number, [MissingSection, ...MissingSection[]]>()
  for (const { content } of tables) {
    for (const section of content.sections) {
      if (live && (await draft.linkPartFrom(section.path, section.fingerprint, live.id))) continue
      const missing = { ...section, table: content.table, format: content.format }
      const pass = passes.get(missing.first)
      if (pass) pass.push(missing)
      else passes.set(missing.first, [missing])
    }
  }
  const write = async (files: readonly MissingSection[], texts: TextsOfFiles) =>
    await draft.writeParts(
      files.map(({ path, fingerprint, format }) => ({ path, fingerprint, twin: format === 'csv' })),
      texts,
      signal,
    )
  for (const files of passes.values()) {
    const [{ first, last }] = files
    if (files.length <= fewFiles) {
      await write(files, textsOfFew(client, { first, last, files }))
      continue
    }
    for (const format of tableFormats) {
      const own = files.filter((file) => file.format === format)
      if (own.length > 0) await write(own, tableTexts(client, format, { first, last, files: own }))
    }
  }
  for (const table of tables) yield [table, await join(draft, table, signal)]
}

async function join(draft: Draft, { path, content }: PlannedTable, signal: AbortSignal): Promise<Writing> {
  const { table, format } = content
  const sections = content.sections.map(({ path }) => path)
  if (format === 'csv')
    return await draft.join(path, sections, signal, { envelope: { head: tableHeader(table), tail: '' } })
  await draft.written(sections)
  const { start, spans, end } = await joinParquet(
    table,
    sections.map((path) => draft.locate(path)),
  )
  const last = `${path}.end`
  await (await draft.write(last, inOneBatch(end), signal, { twin: false })).written
  const parts = [
    ...spans.map((identity, index) => ({ path: sections[index] ?? '', identity })),
    { path: last, identity: [0, end.length] as const },
  ]
  return await draft.join(path, parts, signal, { envelope: { head: start, tail: '' } })
}

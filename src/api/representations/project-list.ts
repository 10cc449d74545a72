import { type Format, integer, record, wireText, xmlDeclaration } from '../../wire/write/wire.js'
import type { Pieces } from '../reply.js'

/** A page of projects whose records are already texts in the wanted format (architecture.md 2.8). */
export type ProjectPage = {
  /** One after another; in JSON joined by commas, as `joinRecords` does. */
  readonly records: string
  /** All projects of the list, whatever the page shows. */
  readonly numberFound: number
  /** First id of the next page; absent on the last one. */
  readonly nextProjectId?: number | undefined
}

/** Records as a page holds them. */
export function joinRecords(format: Format, records: readonly string[]): string {
  return records.join(format === 'json' ? ',' : '')
}

/**
 * The list envelope (wire.md 4.3) as a whole document, in pieces; `hasNext` and `nextProjectId` come together or not
 * at all.
 */
export function projectListDocument(format: Format, page: ProjectPage): Pieces {
  return format === 'xml' ? listXml(page) : listJson(page)
}

function listXml({ records, numberFound, nextProjectId }: ProjectPage): Pieces {
  const next =
    nextProjectId === undefined ? '' : `<hasNext>true</hasNext><nextProjectId>${nextProjectId}</nextProjectId>`
  return [`${xmlDeclaration}<projects numberFound="${numberFound}">${next}`, records, '</projects>']
}

function listJson({ records, numberFound, nextProjectId }: ProjectPage): Pieces {
  const next = nextProjectId === undefined ? '' : `"hasNext":true,"nextProjectId":${nextProjectId},`
  const end = `"numberFound":${numberFound}}}`
  return records === '' ? [`{"projects":{${next}${end}`] : [`{"projects":{${next}"project":[`, records, `],${end}`]
}

/** The list of ids alone, all at once (wire.md 4.4). */
export function projectIdsDocument(format: Format, ids: readonly string[]): Pieces {
  return projectListDocument(format, {
    records: joinRecords(format, projectIdRecords(format, ids)),
    numberFound: ids.length,
  })
}

/** Records that hold an id only. */
function projectIdRecords(format: Format, ids: readonly string[]): string[] {
  return ids.map((id) => wireText('project', record([['id', integer(id)]]))[format])
}

/** One project's document, from its ready text. */
export function projectDocument(format: Format, text: string): Pieces {
  return format === 'xml' ? [xmlDeclaration, text] : ['{"project":', text, '}']
}

import { type Format, integer, record, wireDocument, wireText, xmlDeclaration } from '../../wire/wire.js'

/** A page of projects whose records are already texts in the wanted format (architecture 2.8). */
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

/** The list envelope (wire contract 4.3) as a whole document; `hasNext` and `nextProjectId` come together or not at all. */
export function projectListDocument(format: Format, page: ProjectPage): string {
  return format === 'xml' ? xmlDeclaration + listXml(page) : `{"projects":${listJson(page)}}`
}

function listXml({ records, numberFound, nextProjectId }: ProjectPage): string {
  const next =
    nextProjectId === undefined ? '' : `<hasNext>true</hasNext><nextProjectId>${nextProjectId}</nextProjectId>`
  return `<projects numberFound="${numberFound}">${next}${records}</projects>`
}

function listJson({ records, numberFound, nextProjectId }: ProjectPage): string {
  const next = nextProjectId === undefined ? '' : `"hasNext":true,"nextProjectId":${nextProjectId},`
  const projects = records === '' ? '' : `"project":[${records}],`
  return `{${next}${projects}"numberFound":${numberFound}}`
}

/** The list of ids alone, all at once (wire contract 4.4). */
export function projectIdsDocument(format: Format, ids: readonly string[]): string {
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
export function projectDocument(format: Format, text: string): string {
  return wireDocument(format, 'project', { xml: text, json: text })
}

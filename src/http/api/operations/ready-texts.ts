import { findProjectRows } from '../../../catalogue/sql/ready-texts/project-pages.js'
import type {
  ProjectTexts,
  ProjectView,
  TextRow,
  WantedText,
  WireFormat,
} from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { joinRecords } from '../../../catalogue/wire/write/list.js'
import { projectRecordVersion } from '../../../catalogue/wire/write/project.js'
import type { Store } from '../../../platform/database/store.js'
import { renderOrganisationTexts, renderProjectTexts } from '../../../release/render/ready-texts.js'
import type { Spoken } from './spoken.js'

/** A name of these versions of the records in this view; undefined when a row lacks its text or version. */
export function versionOf(view: ProjectView, rows: readonly TextRow[]): string | undefined {
  if (rows.some((row) => row.text === undefined || row.version === undefined)) return undefined
  return `${projectRecordVersion} ${view} ${rows.map(({ id, version }) => `${id}:${version}`).join()}`
}

/**
 * The rows' texts in their order, in the languages of `spoken` where they have those. Missing ones are rendered from one snapshot and stored for later reads; a project that
 * was deleted meanwhile is left out.
 */
export async function projectTextsOf(
  store: Store,
  { view, format }: { view: ProjectView; format: WireFormat },
  rows: readonly TextRow[],
  spoken?: Spoken,
): Promise<string[]> {
  const name = textName[view][format]
  const spokenTexts = await spoken?.projects(store.db, idsOf(rows))
  return await fillIn(
    inLanguages(rows, (id) => spokenTexts?.get(id)?.[name]),
    async (ids) => {
      const texts = await renderProjectTexts(store, ids)
      return texts.map((text) => [text.id, text[name]])
    },
  )
}

/** The records of projects in the order of their ids, as one text; those that are not there are left out. */
export async function recordsOf(
  store: Store,
  text: WantedText,
  ids: readonly number[],
  spoken?: Spoken,
): Promise<string> {
  const rows = await findProjectRows(store.db, ids, text)
  const inOrder = ids.flatMap((id) => rows.get(id) ?? [])
  return joinRecords(text.format, await projectTextsOf(store, text, inOrder, spoken))
}

/** As `projectTextsOf`, of organisations. */
export async function organisationTextsOf(
  store: Store,
  format: WireFormat,
  rows: readonly TextRow[],
  spoken?: Spoken,
): Promise<string[]> {
  const spokenTexts = await spoken?.organisations(store.db, idsOf(rows))
  return await fillIn(
    inLanguages(rows, (id) => spokenTexts?.get(id)?.[format]),
    async (ids) => {
      const texts = await renderOrganisationTexts(store, ids)
      return texts.map((text) => [text.id, text[format]])
    },
  )
}

const textName = {
  full: { xml: 'xml', json: 'json' },
  summary: { xml: 'summaryXml', json: 'summaryJson' },
} as const satisfies Record<ProjectView, Record<WireFormat, keyof ProjectTexts>>

function idsOf(rows: readonly TextRow[]): number[] {
  return rows.map(({ id }) => id)
}

function inLanguages(rows: readonly TextRow[], textOf: (id: number) => string | undefined): TextRow[] {
  return rows.map((row) => ({ ...row, text: textOf(row.id) ?? row.text }))
}

async function fillIn(
  rows: readonly TextRow[],
  render: (ids: readonly number[]) => Promise<(readonly [id: number, text: string])[]>,
): Promise<string[]> {
  const missing = rows.filter((row) => row.text === undefined).map((row) => row.id)
  if (missing.length === 0) return rows.map((row) => row.text ?? '')
  const rendered = new Map(await render(missing))
  return rows.flatMap((row) => row.text ?? rendered.get(row.id) ?? [])
}

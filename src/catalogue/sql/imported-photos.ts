import { photoFields } from '../../kernel/nouns/photo.js'
import type { Photo } from '../../kernel/project.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, type Upsert, upsertRows } from '../../platform/database/upsert.js'
import { columnsOf, createToColumns } from './field-columns.js'
import { urlColumns } from './photos.js'

/** A picture from a file; without a statement about consent, what was said of this very picture stays. */
export type ImportedPhoto = Omit<Photo, 'consent'> & {
  readonly projectId: number
  readonly consent: boolean | undefined
}

const columns = [
  ...columnsOf(photoFields, 'record').filter((column) => column !== 'position'),
  ...urlColumns.map(([, column]) => column),
]

const statement: Upsert = { table: 'photo', key: ['project_id', 'position'], columns }
const keepingConsent: Upsert = {
  ...statement,
  values: { consent: 't.consent and t.original_url is not distinct from excluded.original_url' },
}

/** Writes pictures of different places and returns what became of each. */
export async function savePhotos(db: Db, photos: readonly ImportedPhoto[]): Promise<RowChange[]> {
  const changes = new Map<ImportedPhoto, RowChange>()
  for (const [sql, isStated] of [
    [statement, true],
    [keepingConsent, false],
  ] as const) {
    const some = photos.filter(({ consent }) => (consent !== undefined) === isStated)
    const written = await upsertRows(db, sql, some.map(toRow))
    for (const [index, photo] of some.entries()) changes.set(photo, written[index] ?? 'unchanged')
  }
  return photos.map((photo) => changes.get(photo) ?? 'unchanged')
}

const toColumns = createToColumns(photoFields, 'record')

function toRow(photo: ImportedPhoto) {
  const { projectId, consent, renditions: urls } = photo
  return {
    ...toColumns(photo),
    project_id: projectId,
    consent: consent ?? false,
    ...Object.fromEntries(urlColumns.map(([rendition, column]) => [column, urls[rendition]])),
  }
}

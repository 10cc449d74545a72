import { columnOf } from '../../kernel/nouns/field.js'
import { photoFields } from '../../kernel/nouns/photo.js'
import { type Photo, renditions } from '../../kernel/project.js'
import type { HashedRecord, ImageRecord } from '../../kernel/record.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { upsert } from '../../platform/database/upsert.js'
import { jsonList, selectFields } from './field-columns.js'

export const urlColumns = renditions.map(
  (rendition) => [rendition, columnOf({ field: rendition, ...photoFields[rendition] })] as const,
)

/** SQL: the columns of photo `f` as JSON of a `Photo`. */
export const photoColumns = `${selectFields(photoFields, 'f')},
  json_build_object(${urlColumns.map(([rendition, column]) => `'${rendition}', nullif(f.${column}, '')`).join(', ')})
    as renditions`

/** A project's pictures, main image first, and what stands in for one that is missing. */
export type Gallery = {
  readonly active: boolean
  readonly title: string
  readonly imageTitle?: string | undefined
  readonly imageLink?: string | undefined
  readonly photos: readonly Photo[]
}

/** Undefined when the project is unknown. */
export async function findGallery(db: Db, projectId: number): Promise<Gallery | undefined> {
  const { rows } = await db.query<Gallery>(
    `select p.active, p.title, p.image_title, p.image_link,
        ${jsonList(`select ${photoColumns} from photo f where f.project_id = p.id order by f.position`)} as photos
      from project p where p.id = $1`,
    [projectId],
    'gallery',
  )
  return rows[0]
}

const stated = ['wire_id', 'title', ...urlColumns.map(([, column]) => column)]
const upsertPhotos = (consent: string) =>
  upsert({
    table: 'photo',
    key: ['project_id', 'position'],
    columns: [...stated, 'consent'],
    values: { consent },
  })

function toPhotoRow(projectId: number, position: number, image: ImageRecord, consent: boolean) {
  return {
    project_id: projectId,
    position,
    wire_id: image.wireId,
    title: image.title,
    ...Object.fromEntries(urlColumns.map(([rendition, column]) => [column, image.renditions[rendition]])),
    consent,
  }
}

// A consent that was given for this very picture stays; another picture needs its own.
const upsertMainImages = upsertPhotos(
  'excluded.consent or (t.consent and t.original_url is not distinct from excluded.original_url)',
)

/** Makes the main images of these projects what their records say. */
export async function replaceMainImages(db: Db, records: readonly HashedRecord[], consent: boolean): Promise<void> {
  const rows = records.flatMap(({ record }) => (record.image ? toPhotoRow(record.id, 0, record.image, consent) : []))
  await db.query(
    `delete from photo where position = 0 and project_id = any (${asSubselect('$1::bigint[]')}::bigint[]) and project_id <> all ($2::bigint[])`,
    [records.map(({ record }) => record.id), rows.map((row) => row.project_id)],
  )
  await db.query(upsertMainImages, [JSON.stringify(rows)])
}

/** The pictures that the upstream has of one project, without the main image. */
export type ProjectGallery = { readonly projectId: number; readonly images: readonly ImageRecord[] }

const upsertGalleries = upsertPhotos('excluded.consent')

/**
 * Makes the pictures after the main image of these projects what the upstream's galleries have; a consent that was given
 * for a picture stays with it when it moves. Returns how many were written or removed.
 */
export async function replaceGalleries(db: Db, galleries: readonly ProjectGallery[]): Promise<number> {
  if (galleries.length === 0) return 0
  const ids = galleries.map(({ projectId }) => projectId)
  const consented = await db.query<{ projectId: number; originalUrl: string }>(
    `select project_id, original_url from photo
     where project_id = any (${asSubselect('$1::bigint[]')}::bigint[]) and position > 0 and consent and original_url is not null`,
    [ids],
  )
  const kept = new Set(consented.rows.map((row) => `${row.projectId} ${row.originalUrl}`))
  const removed = await db.query(
    `delete from photo p using unnest($1::bigint[], $2::integer[]) w (project_id, pictures)
     where p.project_id = w.project_id and p.position > w.pictures`,
    [ids, galleries.map(({ images }) => images.length)],
  )
  const rows = galleries.flatMap(({ projectId, images }) =>
    images.map((image, index) =>
      toPhotoRow(projectId, index + 1, image, kept.has(`${projectId} ${image.renditions.original}`)),
    ),
  )
  const written = await db.query(upsertGalleries, [JSON.stringify(rows)])
  return removed.rowCount + written.rowCount
}

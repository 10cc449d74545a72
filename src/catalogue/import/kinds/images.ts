import { photoFields } from '../../../kernel/nouns/photo.js'
import { ofEach } from '../../../kernel/rows.js'
import { type ImportedPhoto, savePhotos } from '../../sql/imported-photos.js'
import { lockProjectSources } from '../../sql/project-sources.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { fieldsInFiles, statedIn } from '../noun-fields.js'
import { unknownProject } from './money.js'

const imageKindFields = fieldsInFiles(photoFields)

export const images = defineKind({
  name: 'images',
  means: 'Pictures of projects.',
  notes: 'Pictures that a file no longer has stay. A sync replaces the pictures of mirrored projects.',
  fields: imageKindFields,
  key: ['project', 'position'],
  repeated: 'last',
  save: async (db, rows, { photoConsent }) => {
    const projects = await lockProjectSources(db, ofEach(rows, 'project'))
    const known = rows.filter(({ project }) => projects.has(project))
    const changes = await savePhotos(
      db,
      known.map(
        (row): ImportedPhoto => ({
          ...statedIn(photoFields, row),
          projectId: row.project,
          wireId: row.id ?? row.position,
          consent: row.consent ?? (photoConsent ? true : undefined),
          renditions: row,
        }),
      ),
    )
    const outcomes = new Map<object, RecordOutcome>(known.map((row, index) => [row, changes[index] ?? 'unchanged']))
    return rows.map((row) => outcomes.get(row) ?? unknownProject(row.project))
  },
})

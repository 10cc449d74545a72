import { type ImportedPhoto, savePhotos } from '../../sql/imported-photos.js'
import { lockProjectSources } from '../../sql/project-sources.js'
import * as type from '../field-types.js'
import type { KindFields } from '../fields.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { moneyFields, unknownProject } from './money.js'

const example = 'https://platform.example/img/101'

const imageKindFields = {
  project: moneyFields.project,
  position: {
    type: type.count,
    required: true,
    means: 'Order in the gallery; 0 is the main picture.',
    examples: ['0', '1'],
    api: 'image (0), imagegallery',
    iati: 'order of document-link A08',
  },
  id: {
    type: type.count,
    means: 'Number of the picture in the API. Left out: its position.',
    examples: ['', '9001'],
    api: 'image/@id',
  },
  title: {
    type: type.text,
    means: 'Title.',
    examples: ['The well at Tara', ''],
    api: 'image/title',
    iati: 'document-link/title',
  },
  original: {
    type: type.address,
    required: true,
    means: 'The picture as it was taken.',
    examples: [`${example}/original.jpg`, 'https://platform.example/img/102/original.jpg'],
    api: 'imagelink size original',
    iati: 'document-link/@url',
  },
  small: size('small', `${example}/small.jpg`),
  thumbnail: size('thumbnail'),
  medium: size('medium'),
  large: size('large', `${example}/large.jpg`),
  extraLarge: size('extraLarge'),
  consent: {
    type: type.yesNo,
    means:
      'Whether the people shown agreed to publication everywhere. Left out: what was said of this very picture before, else no.',
    examples: ['yes', 'no'],
    iati: 'only pictures with consent are published',
  },
  takenOn: {
    type: type.day,
    day: 'fact',
    means: 'Day on which it was taken.',
    examples: ['2025-03-14', ''],
    iati: 'document-link/document-date',
  },
} as const satisfies KindFields

function size<const Name extends string>(name: Name, address = '') {
  return {
    type: type.address,
    means: `The picture in the size ${name}.`,
    examples: [address, ''],
    api: `imagelink size ${name}`,
  } as const
}

export const images = defineKind({
  name: 'images',
  means: 'Pictures of projects.',
  notes: 'Pictures that a file no longer has stay. A sync replaces the pictures of mirrored projects.',
  fields: imageKindFields,
  key: ['project', 'position'],
  repeated: 'last',
  save: async (db, rows, { photoConsent }) => {
    const projects = await lockProjectSources(
      db,
      rows.map(({ project }) => project),
    )
    const known = rows.filter(({ project }) => projects.has(project))
    const changes = await savePhotos(
      db,
      known.map(
        ({ project, position, id, title, consent, takenOn, ...sizes }): ImportedPhoto => ({
          projectId: project,
          position,
          wireId: id ?? position,
          title,
          takenOn,
          consent: consent ?? (photoConsent ? true : undefined),
          renditions: sizes,
        }),
      ),
    )
    const outcomes = new Map<object, RecordOutcome>(known.map((row, index) => [row, changes[index] ?? 'unchanged']))
    return rows.map((row) => outcomes.get(row) ?? unknownProject(row.project))
  },
})

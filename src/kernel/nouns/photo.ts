import type { Field, Noun } from './field.js'
import { projectOfRecord } from './money.js'

const example = 'https://platform.example/img/101'

function size<const Name extends string>(name: Name, column: string, address = '') {
  return {
    kind: 'address?',
    by: 'file',
    column,
    means: `The picture in the size ${name}.`,
    examples: [address, ''],
    api: `imagelink size ${name}`,
  } as const satisfies Field
}

/** The fields of a picture of a project's gallery. */
export const photoFields = {
  project: projectOfRecord,
  // 0 is the project's main image, whose id on the wire is 0.
  position: {
    kind: 'count',
    file: { required: true },
    means: 'Order in the gallery; 0 is the main picture.',
    examples: ['0', '1'],
    api: 'image (0), imagegallery',
    iati: 'order of document-link A08',
  },
  wireId: {
    kind: 'count',
    name: 'id',
    means: 'Number of the picture in the API. Left out: its position.',
    examples: ['', '9001'],
    api: 'image/@id',
  },
  title: {
    kind: 'text?',
    means: 'Title.',
    examples: ['The well at Tara', ''],
    api: 'image/title',
    iati: 'document-link/title',
  },
  original: {
    ...size('original', 'original_url'),
    file: { required: true },
    means: 'The picture as it was taken.',
    examples: [`${example}/original.jpg`, 'https://platform.example/img/102/original.jpg'],
    iati: 'document-link/@url',
  },
  small: size('small', 'small_url', `${example}/small.jpg`),
  thumbnail: size('thumbnail', 'thumbnail_url'),
  medium: size('medium', 'medium_url'),
  large: size('large', 'large_url', `${example}/large.jpg`),
  extraLarge: size('extraLarge', 'extra_large_url'),
  // People shown have agreed to worldwide publication.
  consent: {
    kind: 'boolean',
    means:
      'Whether the people shown agreed to publication everywhere. Left out: what was said of this very picture before, else no.',
    examples: ['yes', 'no'],
    iati: 'only pictures with consent are published',
  },
  takenOn: {
    kind: 'day?',
    day: 'fact',
    means: 'Day on which it was taken.',
    examples: ['2025-03-14', ''],
    iati: 'document-link/document-date',
  },
} as const satisfies Noun

import type { Noun } from './field.js'

/** The fields of a progress report. */
export const reportFields = {
  // The address of its page, and its permanent Atom id.
  url: {
    kind: 'address',
    file: { required: true },
    means: 'Page of the report; it identifies the report and never changes.',
    examples: ['https://platform.example/reports/1', 'https://platform.example/reports/2'],
    api: 'entry/id',
    iati: 'document-link A08; Atom entry/id',
  },
  projectId: {
    kind: 'project',
    name: 'project',
    means: 'Number or externalId of the project; left out only where projectLinks tells it.',
    examples: ['101', '102'],
  },
  projectLinks: {
    kind: 'addresses?',
    by: 'file',
    part: true,
    means: 'Pages of which one is the projectLink or the progressReportLink of the project.',
  },
  externalId: {
    kind: 'externalId?',
    by: 'file',
    file: { kept: true },
    means: "The platform's own id of the report, where it is no whole number.",
  },
  id: {
    kind: 'id',
    means: 'Number of the report. Left out: the one at the end of its address, else one made of the address.',
  },
  title: {
    kind: 'text',
    file: { required: true },
    means: 'Title.',
    examples: ['The pump runs', 'Desks delivered'],
    api: 'entry/title',
    iati: 'document-link/title; Atom entry/title',
  },
  authorName: {
    kind: 'textOrEmpty?',
    name: 'author',
    means: 'Author.',
    examples: ['Tara Water Trust', ''],
    api: 'entry/author',
    iati: 'Atom entry/author',
  },
  publishedAt: {
    kind: 'instant',
    name: 'published',
    day: 'fact',
    file: { required: true },
    means: 'Day or instant of publication.',
    examples: ['2025-06-01T09:30:00+00:00', '2025-07-15'],
    api: 'entry/published, dateOfMostRecentReport',
    iati: 'document-link/document-date, result/indicator/period; Atom entry/published',
  },
  updatedAt: {
    kind: 'instant',
    name: 'updated',
    day: 'fact',
    means: 'Day or instant of the last change, not before its publication. Left out: its publication.',
    api: 'entry/updated',
    iati: 'Atom entry/updated',
  },
  contentHtml: {
    kind: 'html',
    name: 'html',
    file: { required: true },
    means: 'Text as HTML; what could run or restyle a page is removed.',
    examples: ['<p>Water since Monday.</p>', '<p>120 desks.</p>'],
    api: 'entry/content',
    iati: 'result/indicator/period/actual/comment (its beginning); Atom entry/content',
  },
  images: {
    kind: 'reportImages',
    part: true,
    list: { table: 'report_image', columns: { url: 'url', mediaType: 'media_type' }, order: ['position'] },
    means: 'Addresses of pictures of the report; in NDJSON they may be objects with url and mediaType.',
    examples: ['https://platform.example/img/1.jpg|https://platform.example/img/2.jpg', ''],
    api: 'entry/link',
    iati: 'Atom entry/link rel="enclosure"',
  },
} as const satisfies Noun

import type { OpenApiSchema } from './openapi-schema.js'
import { alwaysPossible, type Operation } from './operation.js'

/** The description of published files at an address: conditional, in parts, compressed (iati.md 14.1). */
export function fileOperation({
  content,
  always = false,
  ...own
}: Pick<Operation, 'id' | 'summary' | 'description' | 'path' | 'pathExamples'> & {
  readonly content: Readonly<Record<string, OpenApiSchema>>
  /** Whether every release has the file. */
  readonly always?: boolean
}): Operation {
  return {
    ...own,
    tag: 'Published files',
    conditional: [206, 304, 412, 416],
    failures: [...alwaysPossible, ...(always ? [] : [404 as const])],
    answer: {
      headers: [
        'Accept-Ranges',
        'Cache-Control',
        'Content-Encoding?',
        'ETag',
        'Last-Modified',
        'Link?',
        'Vary',
        'X-Release',
      ],
      content,
    },
  }
}

/** The documents of other standards, which OpenAPI does not describe. */
export const iatiActivities: OpenApiSchema = {
  type: 'string',
  description: 'IATI 2.03 activities (iati-activities-schema).',
}
export const iatiOrganisations: OpenApiSchema = {
  type: 'string',
  description: 'IATI 2.03 organisations (iati-organisations-schema).',
}

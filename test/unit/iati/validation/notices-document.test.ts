import { expect, it } from 'vitest'
import { mappingNotices } from '../../../../src/iati/mapping/notices.js'
import { validationNotices } from '../../../../src/iati/validation/index.js'
import { readFirstTable, readProjectFile } from '../../../support/documents/markdown-table.js'

const rows = [
  ...Object.entries(mappingNotices).map(([code, { severity, sentence }]) => [
    code,
    severity,
    '',
    sentence,
    'mapping',
    '',
  ]),
  ...Object.entries(validationNotices).map(
    ([code, { severity, severityElsewhere = '', elsewhereOnlyOn, sentence, official, standard = '' }]) => [
      code,
      severity,
      elsewhereOnlyOn === undefined ? severityElsewhere : `${severityElsewhere} on ${elsewhereOnlyOn}`,
      sentence,
      'validation',
      official.join(', ') || standard,
    ],
  ),
]

it('docs/reference/notices.md lists every notice of mapping and validation, in their order, and nothing else', () => {
  const table = rows.map(([code, ...cells]) => `| \`${code}\` | ${cells.join(' | ')} |`).join('\n')
  expect(
    readFirstTable(readProjectFile('docs/reference/notices.md')),
    `docs/reference/notices.md must have these rows:\n${table}\n`,
  ).toEqual(rows)
})

it('no two notices have the same code', () => {
  expect(new Set(rows.map(([code]) => code)).size).toBe(rows.length)
})

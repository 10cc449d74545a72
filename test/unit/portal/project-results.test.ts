import { expect, it } from 'vitest'
import { resultSection } from '../../../src/extensions/portal/pages/project-results.js'
import type { ShownProject } from '../../../src/extensions/portal/read-project.js'
import { languages } from '../../../src/http/pages/words/words.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'

const words = languages.en

/** The section over one period of an indicator. */
function sectionOf(period: string): string {
  const narrative = (text: string) => `<narrative>${text}</narrative>`
  const activity = parseElement(
    Buffer.from(
      `<iati-activity xml:lang="en"><result type="1"><title>${narrative('Water')}</title><indicator measure="1"><title>${narrative('Wells dug')}</title><period><period-start iso-date="2025-01-01"/><period-end iso-date="2025-12-31"/>${period}</period></indicator></result></iati-activity>`,
    ),
    recordLimits,
  )
  return resultSection({ view: { words, language: 'en' }, activity, reports: [] } as unknown as ShownProject).html
}

it('cuts what was reached at the end of a word, and has no column of targets without a target', () => {
  const comment = 'The community dug wells together '.repeat(12).trim()
  const page = sectionOf(`<actual value="3"><comment><narrative>${comment}</narrative></comment></actual>`)
  const [, shown = ''] = /<td[^>]*>([^<]*)…<\/td>/.exec(page) ?? []
  expect(comment.startsWith(`${shown.replace('3 – ', '')} `)).toBe(true)
  expect(page).not.toContain(`>${words.project.target}<`)
  const parts = ['30', '20']
    .map((value) => `<actual value="${value}"><dimension name="sex" value="f"/></actual>`)
    .join('')
  expect(sectionOf(parts)).toContain('>30 (sex: f); 20 (sex: f)<')
  expect(sectionOf('<target value="5"/><actual value="3"/>')).toMatch(/>target<.*<td[^>]*>5<\/td><td[^>]*>3<\/td>/s)
})

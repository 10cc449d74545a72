import { expect, it } from 'vitest'
import { type HeldProject, heldList, heldReasons } from '../../../../src/http/portal/pages/held.js'
import { type Language, languages } from '../../../../src/http/portal/view.js'

const project: HeldProject = {
  projectId: 7,
  identifier: 'XM-TEST-1-7',
  stillPublished: true,
  since: new Date('2026-11-20T02:00:00Z'),
  notices: [
    {
      ...{ code: 'narrative-missing', rule: 'A text is missing.', path: '/iati-activity/title' },
      ...{ detail: 'expected a narrative, got <script>', fields: ['projects.title'] },
    },
    { code: 'x-y', rule: 'Another rule.', path: '/iati-activity/reporting-org', detail: 'expected a ref', fields: [] },
  ],
}

const view = (language: Language) => ({ prefix: '', language, words: languages[language] })

it('lists what is held, since when and for which reasons', () => {
  const page = heldList(view('fr'), { count: 12, projects: [project] }).html
  expect(page).toContain('<a href="/held/7"><code>XM-TEST-1-7</code></a>')
  expect(page).toContain('20 novembre 2026')
  expect(page).toContain('<code>narrative-missing</code> <code>x-y</code>')
  expect(page).toContain('Les 1 premiers')
})

it('says of each reason the rule, the place, the value and how to fix it', () => {
  const page = heldReasons(view('en'), project).html
  expect(page).toMatch(/<h2 lang="en">A text is missing\.<\/h2>.*<code>\/iati-activity\/title<\/code>/s)
  expect(page).toContain('expected a narrative, got &lt;script&gt;')
  expect(page).toContain('Correct projects.title, ')
  expect(page).toContain('No imported field is written there')
  const { since: _, ...unknown } = project
  expect(heldReasons(view('en'), unknown).html).toContain('Since: not stated')
})

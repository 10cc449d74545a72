import { expect, it } from 'vitest'
import type { HeldProject } from '../../../src/cli/wiring/held-projects.js'
import { heldList, heldReasons } from '../../../src/extensions/console/pages/held.js'
import { moneyChanges } from '../../../src/extensions/console/pages/releases.js'

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

const rules = [{ code: 'narrative-missing', rule: 'A text is <missing>.', count: 12 }]

it('lists what is held, since when and for which reasons, grouped by rule', () => {
  const page = heldList({ count: 12, projects: [project], rules, rule: undefined, hasMore: true }).html
  expect(page).toContain('<a href="/held/7"><code>XM-TEST-1-7</code></a>')
  expect(page).toContain('November 20, 2026')
  expect(page).toContain('<code>narrative-missing</code> <code>x-y</code>')
  expect(page).toMatch(/href="\/held\?rule=narrative-missing".*A text is &lt;missing&gt;.*<td class="number">12</s)
  expect(page).toContain('href="/held?after=7"')
})

it('keeps the rule that the list is limited to from page to page', () => {
  const page = heldList({ count: 12, projects: [project], rules, rule: 'x-y', hasMore: true }).html
  expect(page).toContain('Only those that break <code>x-y</code>')
  expect(page).toContain('href="/held?rule=x-y&amp;after=7"')
})

it('says of each reason the rule, the place, the value and how to fix it', () => {
  const page = heldReasons(project).html
  expect(page).toMatch(/<h2>A text is missing\.<\/h2>.*<code>\/iati-activity\/title<\/code>/s)
  expect(page).toContain('expected a narrative, got &lt;script&gt;')
  expect(page).toContain('Correct projects.title, ')
  expect(page).toContain('No imported field is written there')
  const { since: _, ...unknown } = project
  expect(heldReasons(unknown).html).toContain('Since: not reported')
})

it('compares incoming funds alone with a release that has no index', () => {
  const change = { from: '10.00', to: '12.00', change: '2.00' }
  const expected = [{ ...change, currency: 'USD', name: 'Received' }]
  expect(moneyChanges({ money: { USD: change }, sums: undefined })).toEqual(expected)
})

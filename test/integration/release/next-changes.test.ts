import { expect, it, onTestFinished } from 'vitest'
import { seed } from '../../../src/demo/sql/seed.js'
import { demoReportingOrgRef, firstDemoId } from '../../../src/kernel/demo-publisher.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../src/kernel/xml/reader.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'
import { day, mappingConfig, usd } from '../../support/values/builders.js'

/** Attributes and children of one name of each published activity, as texts. */
async function published(ours: CommandStore): Promise<Map<string, Map<string, string>>> {
  const { children } = parseElement(await ours.read('/iati/activities.xml'), recordLimits)
  const textsOf = ({ attributes, children: parts }: Element) => {
    const texts = new Map(Object.entries(attributes).map(([name, value]) => [`@${name}`, value]))
    for (const part of parts) texts.set(part.name, `${texts.get(part.name) ?? ''}${writeElement(part)}`)
    texts.delete('@last-updated-datetime')
    return texts
  }
  const named = children.map((one) => [one.children[0]?.text ?? '', textsOf(one)] as const)
  return new Map(named)
}

/** In which activities each part differs. */
function recount(before: Map<string, Map<string, string>>, after: Map<string, Map<string, string>>) {
  const changed: Record<string, string[]> = {}
  for (const [identifier, texts] of after) {
    const old = before.get(identifier)
    if (!old) continue
    for (const name of new Set([...old.keys(), ...texts.keys()])) {
      if (old.get(name) !== texts.get(name)) changed[name] = [...(changed[name] ?? []), identifier]
    }
  }
  return changed
}

type Changed = { element: string; count: number; examples: { identifier: string; before: string; after: string }[] }
type Answer = { release?: string; changed: number; added: number; elements: Changed[] }

async function dryRun(ours: CommandStore, changes: Record<string, string>): Promise<Answer> {
  const { code, answer } = await ours.json('publish --dry-run', changes)
  expect(code).toBe(0)
  return answer as unknown as Answer
}

it('what the next publication changes is told before, by element, as it is found afterwards', async () => {
  const ours = await commandStore({ REPORTING_ORG_REF: demoReportingOrgRef })
  onTestFinished(ours.remove)
  const today = day('2026-03-01')
  const invented = { source: 'demo', isDemo: true, firstId: firstDemoId, projects: 12 } as const
  await seed(ours.store, { ...invented, today, currency: usd, baseUrl: mappingConfig.baseUrl })
  const before = { ASSUMED_CODES: 'flow-type=36, aid-type=none', DEFAULT_CURRENCY: 'USD' }
  const { added: count, ...first } = await dryRun(ours, before)
  expect([count > 7, first]).toMatchObject([true, { changed: 0, elements: [] }])
  expect(await ours.json('publish --inline', before)).toMatchObject({ answer: { state: 'published' } })
  expect(await dryRun(ours, before)).toMatchObject({ changed: 0, added: 0, elements: [] })
  expect((await ours.json('status', before)).answer.warnings).not.toContainEqual(expect.stringContaining('--dry-run'))
  const old = await published(ours)

  // As an upgrade does: all activities are made by other rules. Two records change too, and one is new.
  const after = { ASSUMED_CODES: 'flow-type=30', DEFAULT_CURRENCY: 'USD' }
  const note = (await ours.json('status', after)).answer.warnings as string[]
  expect(note).toContainEqual(
    expect.stringMatching(
      new RegExp(
        String.raw`: of ${count} activities the next one changes ${count}: default-flow-type in ${count} \(\S+, \S+, \S+\); default-aid-type in ${count} .*\(giving publish --dry-run\)$`,
      ),
    ),
  )
  const { db } = ours.store
  await db.query(
    `update project set title = title || ' & more', goal = goal + 1 where id in (select id from project order by id limit 2)`,
  )
  await db.query(
    `insert into project (id, source, title, status, active, approved_date) values (99999, 'demo', 'New', 'active', true, '2026-01-05')`,
  )
  const told = await dryRun(ours, after)
  expect((await ours.run('publish --dry-run', after)).stdout).toMatch(
    /: \d+ would change, 1 would be new\n {2}default-flow-type in \d+\n {4}\S+: .*code="36".* -> .*code="30"/,
  )
  expect(await published(ours)).toEqual(old)
  expect(await ours.json('publish --inline', after)).toMatchObject({ answer: { state: 'published' } })
  const found = recount(old, await published(ours))
  expect(Object.keys(found)).toEqual(
    expect.arrayContaining(['title', 'budget', 'default-flow-type', 'default-aid-type']),
  )
  expect(Object.fromEntries(told.elements.map(({ element, count }) => [element, count]))).toEqual(
    Object.fromEntries(Object.entries(found).map(([name, all]) => [name, all.length])),
  )
  for (const { element, examples } of told.elements) {
    expect(examples.map(({ identifier }) => identifier)).toEqual(found[element]?.slice(0, 3))
    for (const { before: was, after: is } of examples) expect(was).not.toBe(is)
  }
  expect([told.changed, told.added]).toEqual([new Set(Object.values(found).flat()).size, 1])
  expect(await dryRun(ours, after)).toMatchObject({ changed: 0, added: 0 })
  expect(await ours.run('publish --dry-run --force')).toMatchObject({ code: 2 })
})

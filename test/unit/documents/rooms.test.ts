import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { readFirstTable, readProjectFile } from '../../support/documents/markdown-table.js'

type Rule = {
  readonly name: string
  readonly comment: string
  readonly from: { readonly path?: string; readonly pathNot?: string }
  readonly to: { readonly path?: string; readonly pathNot?: string }
}

const rules = (createRequire(import.meta.url)('../../../.dependency-cruiser.cjs') as { readonly forbidden: Rule[] })
  .forbidden

function tableOf(path: string, heading: string): string[][] {
  const text = readProjectFile(path)
  return readFirstTable(text.slice(text.indexOf(heading)))
}

/** Names in a cell; the reader of tables takes the marks off a cell that is one name. */
function marked(cell = ''): string[] {
  if (!cell.includes('`')) return cell === '' || cell === '–' ? [] : [cell]
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).sort()
}

function foldersIn(path: string): string[] {
  return readdirSync(new URL(`../../../${path}`, import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

/** What the rules let a room of `src` import from others. */
function importsByRule(room: string): string[] | undefined {
  const rule = rules.find(({ name }) => name === `${room}-imports`)
  const allowed = /^\^src\/\((.+)\)\/$/.exec(rule?.to.pathNot ?? '')?.[1]
  return allowed
    ?.split('|')
    .filter((name) => name !== room)
    .sort()
}

/** The package rules by what they allow: a package, and in which folders of a room it may be imported. */
function packagesByRule(room: string): string[] {
  const allowedIn = (place: string) =>
    room === 'jobs' ? place.includes('^jobs/') : new RegExp(`\\^src/(\\([^)]*\\b)?${room}\\b`).test(place)
  return rules
    .filter(({ name }) => name.endsWith('-only-in-its-room'))
    .filter(({ from }) => allowedIn(from.pathNot ?? ''))
    .flatMap(({ to }) => /node_modules\/\((.+?)\)/.exec(to.path ?? '')?.[1]?.split('|') ?? [])
    .sort()
}

describe('the table of rooms in docs/explanation/architecture.md', () => {
  const rows = tableOf('docs/explanation/architecture.md', '## 4. The rooms').map(
    ([room = '', question, folders, imports, packages]) => ({
      room: marked(room)[0] ?? '',
      question,
      folders: marked(folders),
      imports,
      packages: marked(packages),
    }),
  )

  it('has a row for every room, with a question', () => {
    expect(rows.map(({ room }) => room).sort()).toEqual([...foldersIn('src'), 'jobs'].sort())
    expect(rows.filter(({ question = '' }) => question.length < 20)).toEqual([])
  })

  it('names exactly the folders in each room', () => {
    expect(rows.map(({ room, folders }) => [room, folders])).toEqual(
      rows.map(({ room }) => [room, room === 'jobs' ? [] : foldersIn(`src/${room}`)]),
    )
  })

  it('says what the dependency rules say', () => {
    const checked = rows.filter(({ room }) => !['jobs', 'cli', 'extensions'].includes(room))
    expect(checked.map(({ room, imports }) => [room, marked(imports)])).toEqual(
      checked.map(({ room }) => [room, importsByRule(room)]),
    )
    expect(rows.map(({ room, packages }) => [room, packages])).toEqual(
      rows.map(({ room }) => [room, packagesByRule(room)]),
    )
  })
})

it('every dependency rule says what to do when it fails', () => {
  expect(rules.filter(({ comment }) => comment.length < 20).map(({ name }) => name)).toEqual([])
})

describe('SQL', () => {
  // The embedded server is set up by statements of its administrator, about no table of ours.
  const ownSql = /^src\/(?:[\w-]+\/(?:[\w-]+\/)*sql\/|platform\/(?:database|embedded-postgres)\/)/
  const statement =
    /\.query[<(]|\bcopyRows\(|[`'"]\s*(?:select|insert into|delete from|update \w+ (?:\w )?set|with \w+ as|copy) /
  const sources = ['src', 'jobs'].flatMap((folder) =>
    readdirSync(new URL(`../../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  )

  it('is in the sql folders of rooms and in platform/database only', () => {
    const found = sources.filter((path) => statement.test(readProjectFile(path)))
    expect(found.filter((path) => !ownSql.test(path))).toEqual([])
    expect(found.length).toBeGreaterThan(80)
  })

  // Who else has statements on donations and donors, and why. This list may only shrink.
  const besideMoney = {
    'src/catalogue/sql/export/snapshot.ts': 'a copy of the store continues the numbers of receipts',
    'src/catalogue/sql/merge-organisations.ts': 'an organisation that has given is not merged into another',
    'src/demo/sql/demo.ts': 'invented donations go with their projects',
    'src/demo/sql/money.ts': 'invented donations come in',
    'src/platform/database/backup.ts': 'a backup names the keys that its donors are encrypted with',
    'src/release/sql/pruning.ts': 'donors are removed when their time is over',
  }

  it('on donations and donors is in src/money, so that a change of them stays there', () => {
    const ofMoney = /\b(?:from|join|into|update)\s+(?:donation(?:_event|_refund|_plan|_plan_charge)?|donor(?:_mail)?)\b/
    const found = sources.filter((path) => ofMoney.test(readProjectFile(path)))
    expect(found.filter((path) => !path.startsWith('src/money/sql/')).sort()).toEqual(Object.keys(besideMoney).sort())
    expect(found.length).toBeGreaterThan(15)
  })
})

describe('tests (CONTRIBUTING.md)', () => {
  const tests = readdirSync(new URL('../../', import.meta.url), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('documents/rooms.test.ts'))
  const linesWith = (pattern: RegExp, names: readonly string[]) =>
    names.flatMap((name) =>
      readProjectFile(`test/${name}`)
        .split('\n')
        .flatMap((line) => (pattern.test(line) ? [`${name}: ${line.trim()}`] : [])),
    )

  it('put nothing in place of our own modules', () => {
    expect(linesWith(/\bvi\.(?:mock|doMock|hoisted|importActual)\b/, tests)).toEqual([])
    expect(tests.length).toBeGreaterThan(250)
  })

  it('assert nothing about how long something took', () => {
    const bound = /expect.*(?:performance\.now|Date\.now\(\) - |[a-z]Ms\b|elapsed|took).*\.toBe(?:Less|Greater|Close)/
    const quick = tests.filter((name) => /^(?:unit|golden|integration|e2e)\//.test(name))
    expect(linesWith(bound, quick)).toEqual([])
  })
})

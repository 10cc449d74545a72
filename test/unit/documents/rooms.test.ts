import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { readFirstTable, readProjectFile } from '../../support/markdown-table.js'

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

/** Packages by the rooms that alone may use them. */
function packagesByRule(room: string): string[] {
  return rules
    .filter(({ name }) => name.endsWith('-only-in-its-room'))
    .filter(({ from }) => new RegExp(from.pathNot ?? '').test(room === 'jobs' ? 'jobs/' : `src/${room}/`))
    .flatMap(({ to }) => /node_modules\/\((.+?)\)/.exec(to.path ?? '')?.[1]?.split('|') ?? [])
    .sort()
}

describe("README's table of rooms", () => {
  const rows = tableOf('README.md', '## The rooms')

  it('names exactly the rooms that exist', () => {
    const named = rows.flatMap(([room]) => marked(room))
    const there = [...foldersIn('src').map((name) => `src/${name}/`), 'src/cli.ts', 'jobs/'].sort()
    expect(named.sort()).toEqual(there)
  })

  it('names exactly the folders in each room', () => {
    for (const [room, , folders] of rows) {
      const there = marked(room).flatMap((path) => (path.endsWith('/') ? foldersIn(path) : []))
      expect([room, marked(folders)]).toEqual([room, there])
    }
  })
})

describe('the table of imports in docs/architecture.md', () => {
  const rows = tableOf('docs/architecture.md', '## 4. The rooms').map(
    ([room = '', imports, packages]) => [marked(room)[0] ?? '', imports, packages] as const,
  )

  it('says what the dependency rules say', () => {
    const checked = rows.filter(([room]) => room !== 'jobs' && room !== 'commands')
    expect(checked.map(([room, imports]) => [room, marked(imports)])).toEqual(
      checked.map(([room]) => [room, importsByRule(room)]),
    )
    expect(rows.map(([room, , packages]) => [room, marked(packages)])).toEqual(
      rows.map(([room]) => [room, packagesByRule(room)]),
    )
  })

  it('has a row for every room', () => {
    expect(rows.map(([room]) => room).sort()).toEqual([...foldersIn('src'), 'jobs'].sort())
  })
})

describe('the table of folders inside of publishing', () => {
  const rows = tableOf('docs/architecture.md', 'Inside `publishing`')

  it('says what the dependency rules say', () => {
    for (const [folder = '', , imports] of rows) {
      const own = folder.replace(/\/$/, '')
      const rule = rules.find(({ name }) => name === `publishing-${own.replace('/', '-')}-imports`)
      const [, allowed = ''] = /^\^src\/publishing\/\((.+)\)\(/.exec(rule?.to.pathNot ?? '') ?? []
      const folders = allowed.split('|').filter((name) => !['', own, 'publication'].includes(name))
      expect([own, rule !== undefined, marked(imports)]).toEqual([own, true, folders.map((name) => `${name}/`).sort()])
    }
  })

  it('has a row for every folder', () => {
    const there = foldersIn('src/publishing').flatMap((name) =>
      name === 'release' ? foldersIn('src/publishing/release').map((inner) => `release/${inner}/`) : [`${name}/`],
    )
    expect(rows.map(([folder]) => folder).sort()).toEqual(there.sort())
  })
})

it('every dependency rule says what to do when it fails', () => {
  expect(rules.filter(({ comment }) => comment.length < 20).map(({ name }) => name)).toEqual([])
})

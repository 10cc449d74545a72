import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readProjectFile } from '../../support/documents/markdown-table.js'

const documents: Readonly<Record<string, string>> = {
  wire: 'docs/contract/wire.md',
  iati: 'docs/contract/iati.md',
  architecture: 'docs/explanation/architecture.md',
}
// Documents cite with a link: [wire.md](docs/contract/wire.md) 4.2.
const citation = /\b(wire|iati|architecture)\.md(?:`|\]\([^)]*\))? (\d+(?:\.\d+)?(?:(?:, | and )\d+(?:\.\d+)?)*)/g

// What only its writers have at hand, in the words in which it was once cited.
const outside =
  /\b(?<!# The |# )(?:wire|IATI) contract\b|\barchitecture,? (?:section )?\d|\bspecification,? (?:section )?\d|\.\.\/shared\b|\bissue \d+\b/gi

/** Comments with their lines joined, so that a citation may be wrapped. */
function textOf(path: string): string {
  return readProjectFile(path).replace(/\n\s*(?:\*|\/\/|--|#)?\s*/g, ' ')
}

/** Sources, documents and settings: those of the root, and those below its folders. */
function writtenFiles(): string[] {
  const folders = ['src', 'jobs', 'test', 'bench', 'docs', 'deploy', '.github']
  const root = new URL('../../../', import.meta.url)
  const below = folders.flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  return [...readdirSync(root), ...below]
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.(?:ts|mjs|cjs|sql|md|ya?ml|jsonc)$/.test(path) && !/\.vitepress\/(?:cache|dist)\//.test(path))
}

/** Numbers of sections (`## 4. Title`) and clauses (`**4.2 Title.**`). */
function clausesOf(document: string): string[] {
  return [...readProjectFile(document).matchAll(/^(?:## (\d+)\. |(?:- )?\*\*(\d+\.\d+)(?: |\*\*))/gm)].map(
    ([, section, clause]) => section ?? clause ?? '',
  )
}

const sources = writtenFiles().filter((path) => path !== 'test/unit/documents/citations.test.ts')

describe('citations in code, documents and settings', () => {
  it('name clauses that exist', () => {
    const known = new Map(Object.entries(documents).map(([name, path]) => [name, new Set(clausesOf(path))]))
    const missing = sources.flatMap((path) =>
      [...textOf(path).matchAll(citation)].flatMap(([, name = '', numbers = '']) =>
        numbers
          .split(/, | and /)
          .filter((number) => !known.get(name)?.has(number))
          .map((number) => `${path}: ${name}.md ${number}`),
      ),
    )
    expect(missing).toEqual([])
  })

  it('name nothing outside of the repository', () => {
    const found = sources.flatMap((path) => [...textOf(path).matchAll(outside)].map(([text]) => `${path}: ${text}`))
    expect(found).toEqual([])
  })
})

describe.each(Object.entries(documents))('the clauses of %s.md', (name, path) => {
  it('have each number once, in order', () => {
    const clauses = clausesOf(path)
    const order = clauses.map((number) => number.split('.').map(Number))
    const sorted = order.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d)
    expect(clauses.length, name).toBeGreaterThan(10)
    expect(new Set(clauses).size).toBe(clauses.length)
    expect(order).toEqual(sorted)
  })
})

import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readProjectFile } from '../../support/documents/markdown-table.js'

const files = ['src', 'jobs'].flatMap((folder) =>
  readdirSync(new URL(`../../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
    // The build makes the types of the client, with the names of openapi.json.
    .filter((name) => name.endsWith('.ts') && !name.endsWith('api-types.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
)
const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:class|type|interface|const|let|function\*?) ([A-Za-z]\w*)/gm

it('an exported name is declared in one file: one word for one thing', () => {
  const places = new Map<string, Set<string>>()
  for (const file of files) {
    for (const [, name = ''] of readProjectFile(file).matchAll(declaration)) {
      places.set(name, (places.get(name) ?? new Set()).add(file))
    }
  }
  const several = [...places].filter(([, found]) => found.size > 1).map(([name, found]) => [name, [...found]])
  expect(several).toEqual([])
})

it('names of code in the glossary are in the code', () => {
  const names = [...readProjectFile('docs/glossary.md').matchAll(/`([A-Z]\w+)`/g)].map(([, name = '']) => name)
  const code = files.map(readProjectFile).join('\n')
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !new RegExp(`^(?:export )?(?:class|type) ${name}\\b`, 'm').test(code))).toEqual([])
})

// Names of an earlier vocabulary, and what is said now. Words of prose are in docs/glossary.md.
const replaced: Readonly<Record<string, RegExp>> = {
  ProcessorRefund: /\bGivenBack\b/,
  linkPartFrom: /\bcarryPart\b/,
  findSupportsModifiedSince: /\bfindUnderstandsSince\b/,
}

it('names that were replaced have not come back', () => {
  const documents = readdirSync(new URL('../../../docs', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('measurements'))
    .map((name) => `docs/${name}`)
  const found = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...documents, ...files].flatMap((file) =>
    Object.entries(replaced).flatMap(([now, before]) => {
      const [word] = before.exec(readProjectFile(file)) ?? []
      return word === undefined ? [] : [`${file}: ${word}, now ${now}`]
    }),
  )
  expect(found).toEqual([])
})

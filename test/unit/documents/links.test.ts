import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { projectRoot } from '../../support/documents/how-to.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'

const documents = [
  ...readdirSync(projectRoot).filter((name) => name.endsWith('.md')),
  ...readdirSync(path.join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name)),
  ...readdirSync(path.join(projectRoot, '.github'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('.github', name)),
]

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(document: string): string[] {
  return [...readProjectFile(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

it.each(documents)('anchors in links of %s are headings of their pages', (document) => {
  const links = [...readProjectFile(document).matchAll(/\]\(([^)#\s:]*)#([^)]+)\)/g)]
  const missing = links.filter(([, file = '', anchor = '']) => {
    const page = file === '' ? document : path.join(path.dirname(document), file)
    return page.endsWith('.md') && !anchorsOf(page).includes(anchor)
  })
  expect(missing.map(([link]) => link)).toEqual([])
})

it.each(documents)('links of %s lead to files that exist', (document) => {
  const links = [...readProjectFile(document).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
  const missing = links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => !existsSync(path.join(projectRoot, path.dirname(document), link)))
  expect(missing).toEqual([])
})

it('the README is a first page: short, with the two commands that need nothing else', () => {
  const readme = readProjectFile('README.md')
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(90)
  expect(readme).toMatch(/^npm ci && npm start .*\nnpm ci && npm test /m)
})

it('docs/index.md lists every page but the decisions', () => {
  const listed = [...readProjectFile('docs/index.md').matchAll(/\]\((?!\.\.)([^)]+)\)/g)].map(
    ([, page = '']) => `docs/${page}`,
  )
  const pages = documents.filter((document) => /^docs\/(?!adr\/|index\.md)/.test(document))
  expect([...new Set(listed)].filter((page) => !page.startsWith('docs/adr/')).sort()).toEqual(pages.sort())
})

// Generated, compared with code, cited by clause, or a dated appendix.
const longPages =
  /^docs\/(?:cli\.md|contract\/|explanation\/(?:architecture\.md|measurements\.md))|reference\/(?:api|asvs|configuration|errors|import|notices|store)\.md/

it.each(documents.filter((document) => document.startsWith('docs/') && !longPages.test(document)))(
  '%s has at most 1,500 words: more are two pages',
  (document) => expect(readProjectFile(document).split(/\s+/).length).toBeLessThanOrEqual(1500),
)

// A number is never given again: decisions that went with what they were about leave a gap.
it('decisions have numbers of their own, in their names and titles', () => {
  const decisions = documents.filter((document) => document.startsWith(path.join('docs', 'adr')))
  const numbers = decisions.map((document) => Number(path.basename(document).slice(0, 4)))
  expect(new Set(numbers).size).toBe(numbers.length)
  for (const document of decisions) {
    expect(readProjectFile(document)).toMatch(new RegExp(`^# ${Number(path.basename(document).slice(0, 4))}\\. `))
  }
})

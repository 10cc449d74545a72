import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { projectRoot } from '../../support/how-to.js'
import { readProjectFile } from '../../support/markdown-table.js'

const section = readProjectFile('docs/security.md').split('\n## OWASP ASVS 5.0\n')[1] ?? ''
const [mapped = '', rest = ''] = section.split('\n### Exceptions\n')
const [exceptions = ''] = rest.split('\n### ')

type Requirement = { readonly number: string; readonly level: string; readonly last: string }

const requirementsOf = (text: string): Requirement[] =>
  [...text.matchAll(/^\| (\d+\.\d+\.\d+) \| ([12]) \|(?:.*\|)? (.+) \|$/gm)].map(
    ([, number = '', level = '', last = '']) => ({ number, level, last }),
  )

describe('OWASP ASVS 5.0 in docs/security.md', () => {
  const [met, open] = [requirementsOf(mapped), requirementsOf(exceptions)]

  it.each(met)('$number is shown by tests that exist', ({ last }) => {
    const proofs = [...last.matchAll(/`([^`]+\.test\.ts)`: ((?:(?!; `).)+)/g)]
    expect(proofs.length).toBeGreaterThan(0)
    for (const [, file = '', title = ''] of proofs) {
      expect(existsSync(path.join(projectRoot, 'test', file)), file).toBe(true)
      const quoted = ["'", '"', '`'].map((quote) => `${quote}${title}${quote}`)
      const text = readProjectFile(`test/${file}`)
      expect(
        quoted.some((one) => text.includes(`${one},`)),
        `${file} has no test "${title}"`,
      ).toBe(true)
    }
  })

  it('has each requirement once, in order', () => {
    for (const list of [met, open]) {
      const numbers = list.map(({ number }) => number)
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })))
    }
    const both = new Set(met.map(({ number }) => number))
    expect(open.filter(({ number }) => both.has(number))).toEqual([])
  })

  it('is met at level 1 but for three exceptions, at level 2 for 9 of 10', () => {
    const at = (level: string, list: readonly Requirement[]) => list.filter((one) => one.level === level)
    expect(at('1', open).map(({ number }) => number)).toEqual(['7.2.4', '14.2.1', '15.2.1'])
    const [metAt2, openAt2] = [at('2', met).length, at('2', open).length]
    expect(metAt2 / (metAt2 + openAt2)).toBeGreaterThanOrEqual(0.9)
  })
})

const sources = ['src', 'jobs'].flatMap((room) =>
  readdirSync(path.join(projectRoot, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name: path.join(room, name), text: readProjectFile(path.join(room, name)) })),
)
const found = (pattern: RegExp) =>
  sources.flatMap(({ name, text }) => [...text.matchAll(pattern)].map(([all]) => `${name}: ${all}`))

it('the sources call no shell and evaluate no text', () => {
  expect(found(/\beval\(|\bnew Function\(|\bnew RegExp\(|shell: true/g)).toEqual([
    // Of names of elements, which are our own.
    'src/import/fields-of-element.ts: new RegExp(',
  ])
  const started = found(/import \{[^}]*\} from 'node:(?:child_process|vm)'/g)
  expect(
    started.filter(
      (one) => !/import \{ (?:type \w+, )*(?:spawn|execFile|fork)(?:, (?:type \w+|spawn|execFile))* \}/.test(one),
    ),
  ).toEqual([
    // It evaluates a constant.
    "src/commands/wiring/bounded-heap.ts: import { runInNewContext } from 'node:vm'",
  ])
})

it('the sources use the cryptography that docs/security.md lists, and no other', () => {
  const [, table = ''] = section.split('\n### Cryptography\n')
  const listed = [...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name)
  const used = sources.flatMap(({ text }) =>
    [
      ...text.matchAll(
        /\b(?:createHash|createHmac|hash|createCipheriv|createDecipheriv|generateKeyPair(?:Sync)?)\('([\w-]+)'/g,
      ),
    ].map(([, name]) => name),
  )
  expect([...new Set([...used, 'argon2id'])].sort()).toEqual([...new Set(listed)].sort())
})

it('the image has named files only, and no source control metadata', () => {
  expect(readProjectFile('.dockerignore')).toMatch(/^\*$/m)
  expect(readProjectFile('.dockerignore')).not.toContain('.git')
  expect(readProjectFile('Dockerfile')).not.toMatch(/^(?:COPY|ADD)\s(?:--\S+\s+)*\.\s/m)
})

it('SECURITY.md says when weaknesses are mended, those of packages too', () => {
  expect(readProjectFile('SECURITY.md')).toMatch(
    /within thirty[\s\S]*packages in production are mended in the same\s+times/,
  )
})

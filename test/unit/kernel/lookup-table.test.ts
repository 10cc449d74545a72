import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lookupTable } from '../../../src/kernel/lookup-table.js'

const source = new URL('../../../src/', import.meta.url)
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('client/'))
  .map((name) => ({ name, text: readFileSync(new URL(name, source), 'utf8') }))

it('has its own members only', () => {
  const table = lookupTable({ water: 1 })
  expect(['water', 'constructor', 'toString', '__proto__'].map((name) => table[name])).toEqual([
    1,
    undefined,
    undefined,
    undefined,
  ])
})

/** Plain objects that a variable looks up, and who makes its names: nobody outside of this program. */
const lookedUp: Readonly<Record<string, string>> = {
  arraysInJson: 'schemas of our description',
  classes: 'properties that the catalogue writes',
  days: 'its own keys',
  durationUnits: 'one letter of a pattern',
  entities: 'what our writer escaped',
  exponents: 'currencies, in capitals',
  fieldTypes: 'types of columns',
  formats: 'endings of two to five characters',
  frameworkErrors: 'codes of the framework',
  identifierAttributes: 'its own keys',
  kinds: 'kinds of a field',
  listenReasons: 'codes of the system',
  loaders: 'processors that Node knows',
  operations: 'what the program does with a file',
  pathParameters: 'names in our routes',
  periods: 'its own keys',
  references: 'one character of a pattern',
  schemas: 'schemas of our description',
  storageReasons: 'codes of the system',
  stripePlaces: 'currencies, in capitals',
  themeDefaults: 'its own keys',
  themeWords: 'its own keys',
  transientStates: 'five characters of an SQLSTATE',
  usable: 'kinds of a field',
}

it('is what names from outside are looked up in: of each plain object it is known who makes the names', () => {
  const plain = files.flatMap(({ text }) =>
    [...text.matchAll(/^(export )?const (\w+): Readonly<Record<string, .*>> = \{/gm)].flatMap(
      ([, exported, table = '']) => {
        const users = exported ? files.filter((one) => one.text.includes(table)).map((one) => one.text) : [text]
        const isLookedUp = users.some(
          (user) => new RegExp(`\\b${table}(\\?\\.)?\\[[^'"\\]]`).test(user) && !user.includes(`hasOwn(${table}`),
        )
        return isLookedUp ? [table] : []
      },
    ),
  )
  expect([...new Set(plain)].sort()).toEqual(Object.keys(lookedUp).sort())
})

/** The same of the words of the portal: places in them that a variable looks up. */
const lookedUpWords: Readonly<Record<string, string>> = {
  changes: 'kinds of changes',
  group: 'parameters of our pages',
  groups: 'kinds of our pages',
  list: 'orders of a list that were checked',
  money: 'kinds of money',
  nav: 'its own keys',
  quality: 'its own keys',
  themeNames: 'themes that the program knows',
}

it('is known of the words of the portal too', () => {
  const places = files.flatMap(({ text }) =>
    [...text.matchAll(/\bwords\.([\w.]+)\[(?!['"])/g)].map(([, place = '']) => place),
  )
  expect([...new Set(places)].sort()).toEqual(Object.keys(lookedUpWords))
})

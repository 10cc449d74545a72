import type {
  CodeListFact,
  CodeListMapping,
  ConditionFact,
  StructureFacts,
} from '../../../../src/iati/standard/facts.js'
import {
  booleanType,
  listType,
  type MemberType,
  objectType,
  ofOthers,
  optional,
  requireObject,
  textType,
} from '../../../../src/kernel/read-object.js'

const textOrNull: MemberType<string | null> = {
  expected: 'a text or null',
  read: (value) => (typeof value === 'string' || value === null ? value : undefined),
}

const codeListFile = objectType({ complete: booleanType, items: listType(listType(textOrNull, 2)) })

const mappingFile = objectType({
  rows: listType(objectType({ path: textType(), codelist: textType(), condition: optional(textType()) })),
})

/** Lists that the mapping does not name but we need: prefixes of organisation identifiers. */
const furtherLists = ['OrganisationRegistrationAgency']

/** The rows of the official mapping of code lists, their XPath parsed. */
export function extractCodeListMapping(text: string, structure: StructureFacts): CodeListMapping[] {
  const read = { rows: JSON.parse(text) }
  return requireObject(mappingFile, read, { ...ofOthers, unknown: () => 'no other member' }).rows.map(
    ({ path, codelist, condition }) => {
      const [, elementPath = '', attribute] = /^\/\/(.*?)\/?(?:@([\w:-]+)|text\(\))$/.exec(path) ?? fail('path', path)
      return {
        path: elementPath === '' ? '*' : absolute(elementPath, structure),
        attribute: attribute ?? null,
        codelist,
        ...(condition !== undefined && { condition: parseCondition(condition) }),
      }
    },
  )
}

/** `iati-activity/sector` as a path from the root element; throws when the schema has no such element. */
function absolute(path: string, { roots, types }: StructureFacts): string {
  const names = path.split('/')
  const root = names[0]?.startsWith('iati-activit') ? 'iati-activities' : 'iati-organisations'
  const full = names[0] === root ? names : [root, ...names]
  let type = roots[root] ?? fail('root', root)
  for (const name of full.slice(1)) {
    const child = types[type]?.children.find(([childName]) => childName === name) ?? fail('element', path)
    type = child[3]
  }
  return `/${full.join('/')}`
}

function parseCondition(condition: string): ConditionFact {
  const match = /^@([\w-]+) = '([^']*)'( or not\(@([\w-]+)\))?$/.exec(condition) ?? fail('condition', condition)
  const [, attribute = '', equals = '', orAbsent, absent] = match
  if (orAbsent !== undefined && absent !== attribute) fail('condition', condition)
  return { attribute, equals, orAbsent: orAbsent !== undefined }
}

/** The code lists that the mapping names, and the registration agencies. */
export function extractCodeLists(text: string, mapping: readonly CodeListMapping[]): Record<string, CodeListFact> {
  const all = new Map(Object.entries(JSON.parse(text)).map(([name, list]) => [name, requireObject(codeListFile, list)]))
  const names = [...new Set([...mapping.map((row) => row.codelist), ...furtherLists])].sort()
  return Object.fromEntries(
    names.map((name): [string, CodeListFact] => {
      const list = all.get(name) ?? fail('code list', name)
      return [name, { complete: list.complete, codes: list.items.map(toCode) }]
    }),
  )
}

function toCode([code, name, status]: readonly (string | null)[]): CodeListFact['codes'][number] {
  if (!code) fail('code', String(code))
  if (status !== undefined && status !== null && status !== 'active' && status !== 'withdrawn') fail('status', status)
  return status === 'withdrawn' ? [code ?? '', name ?? '', 1] : [code ?? '', name ?? '']
}

function fail(what: string, value: string): never {
  throw new Error(`the official files have an unknown ${what}: ${value}`)
}

import { z } from 'zod'
import type {
  CodeListFact,
  CodeListMapping,
  ConditionFact,
  StructureFacts,
} from '../../../../src/iati/standard/facts.js'

const codeListsFile = z.record(
  z.string(),
  z.object({
    complete: z.boolean(),
    items: z.array(z.array(z.union([z.string(), z.null()])).min(2)),
  }),
)

const mappingFile = z.array(
  z.object({ path: z.string(), codelist: z.string(), condition: z.string().optional() }).strict(),
)

/** Lists that the mapping does not name but we need: prefixes of organisation identifiers. */
const furtherLists = ['OrganisationRegistrationAgency']

/** The rows of the official mapping of code lists, their XPath parsed. */
export function extractCodeListMapping(text: string, structure: StructureFacts): CodeListMapping[] {
  return mappingFile.parse(JSON.parse(text)).map(({ path, codelist, condition }) => {
    const [, elementPath = '', attribute] = /^\/\/(.*?)\/?(?:@([\w:-]+)|text\(\))$/.exec(path) ?? fail('path', path)
    return {
      path: elementPath === '' ? '*' : absolute(elementPath, structure),
      attribute: attribute ?? null,
      codelist,
      ...(condition !== undefined && { condition: parseCondition(condition) }),
    }
  })
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
  const all = codeListsFile.parse(JSON.parse(text))
  const names = [...new Set([...mapping.map((row) => row.codelist), ...furtherLists])].sort()
  return Object.fromEntries(
    names.map((name): [string, CodeListFact] => {
      const list = all[name] ?? fail('code list', name)
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

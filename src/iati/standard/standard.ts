import { readFileSync } from 'node:fs'
import type {
  CodeListFact,
  CodeListMapping,
  ConditionFact,
  ContentFact,
  OriginFacts,
  SimpleType,
  StructureFacts,
} from './facts.js'
import { standardVersion } from './version.js'

/** A code list of the standard, looked up by code. */
export type CodeList = {
  readonly name: string
  /** Whether the standard allows no other code. */
  readonly complete: boolean
  readonly codes: ReadonlyMap<string, { readonly name: string; readonly active: boolean }>
}

/** Which list governs an attribute, or the text when `attribute` is undefined. */
export type CodeRule = {
  readonly attribute: string | undefined
  readonly list: CodeList
  /** Applies only where an attribute has this value, or, with `orAbsent`, is absent. */
  readonly condition: ConditionFact | undefined
}

/** A place among the children of an element. */
export type Slot = {
  readonly name: string
  readonly index: number
  readonly least: number
  readonly most: number
  readonly rule: ElementRule
}

/** What the standard says about the element at one path. */
export type ElementRule = {
  readonly path: string
  readonly content: ContentFact
  readonly attributes: ReadonlyMap<string, SimpleType>
  readonly required: readonly string[]
  /** Whether attributes of a foreign namespace are allowed. */
  readonly foreignAttributes: boolean
  /** The children that may occur, in the order they must have; `name` is `*` for a foreign namespace. */
  readonly slots: readonly Slot[]
  readonly slotOf: ReadonlyMap<string, Slot>
  readonly codes: readonly CodeRule[]
}

function load<T>(name: string): T {
  // Node 20 warns about JSON imports; the build copies the folder beside this file.
  return JSON.parse(readFileSync(new URL(`./data/${name}`, import.meta.url), 'utf8')) as T
}

const structure = load<StructureFacts>('structure.json')
const mapping = load<CodeListMapping[]>('mapping.json')
const codeLists = new Map(
  Object.entries(load<Record<string, CodeListFact>>('codelists.json')).map(([name, { complete, codes }]) => [
    name,
    {
      name,
      complete,
      codes: new Map(codes.map(([code, title, withdrawn]) => [code, { name: title, active: withdrawn !== 1 }])),
    },
  ]),
)

type NamesByList = Readonly<Record<string, Readonly<Record<string, string>>>>
const namesByLanguage = { fr: load<NamesByList>('names-fr.json'), de: load<NamesByList>('names-de.json') }

/** The names of all code lists that {@link codeList} has, sorted. */
export const codeListNames: readonly string[] = [...codeLists.keys()].sort()

if (structure.version !== standardVersion) throw new Error(`the standard's data is of version ${structure.version}`)

/** The origin of the data: repositories, commits, licences, hashes of the files read. */
export const standardOrigin: OriginFacts = load<OriginFacts>('origin.json')

const codeRulesByPath = new Map<string, CodeRule[]>()
for (const { path, attribute, codelist, condition } of mapping) {
  const rules = codeRulesByPath.get(path) ?? []
  rules.push({ attribute: attribute ?? undefined, list: codeList(codelist), condition })
  codeRulesByPath.set(path, rules)
}
const everywhere = codeRulesByPath.get('*') ?? []

const rulesByPath = new Map<string, ElementRule>()

function ruleAt(path: string, typeNumber: number): ElementRule {
  const known = rulesByPath.get(path)
  if (known) return known
  const type = structure.types[typeNumber]
  if (!type) throw new Error(`the standard's data has no type ${typeNumber}`)
  const slots = type.children.map(
    ([name, least, most, childType], index): Slot => ({
      name,
      index,
      least,
      most: most ?? Number.POSITIVE_INFINITY,
      // Computed on first access, since a type may contain itself.
      get rule() {
        const rule = ruleAt(`${path}/${name}`, childType)
        Object.defineProperty(this, 'rule', { value: rule })
        return rule
      },
    }),
  )
  const attributes = new Map(type.attributes.map(([name, simpleType]) => [name, simpleType]))
  const rule: ElementRule = {
    path,
    content: type.content,
    attributes,
    required: type.attributes.filter(([, , required]) => required === 1).map(([name]) => name),
    foreignAttributes: type.foreign === 1,
    slots,
    slotOf: new Map(slots.filter(({ name }) => name !== '*').map((slot) => [slot.name, slot])),
    codes: [
      ...(codeRulesByPath.get(path) ?? []),
      ...everywhere.filter(
        ({ attribute }) => attribute !== undefined && (attributes.has(attribute) || type.foreign === 1),
      ),
    ],
  }
  rulesByPath.set(path, rule)
  return rule
}

/** The rule of the element at a path such as `/iati-activities/iati-activity/budget`; undefined for unknown ones. */
export function elementRule(path: string): ElementRule | undefined {
  const known = rulesByPath.get(path)
  if (known) return known
  const [root = '', ...names] = path.split('/').slice(1)
  const rootType = structure.roots[root]
  if (rootType === undefined) return undefined
  let rule: ElementRule | undefined = ruleAt(`/${root}`, rootType)
  for (const name of names) rule = rule?.slotOf.get(name)?.rule
  return rule
}

/** A code list that the mapping uses, or `OrganisationRegistrationAgency`; throws for any other name. */
export function codeList(name: string): CodeList {
  const list = codeLists.get(name)
  if (!list) throw new Error(`no code list ${name} in the standard's data`)
  return list
}

/** Whether the code is on the list and not withdrawn. */
export function isActiveCode(list: string, code: string): boolean {
  return codeList(list).codes.get(code)?.active === true
}

/** Whether an identifier begins with a registration agency that is not withdrawn. */
export function hasActiveAgency(ref: string): boolean {
  for (let end = ref.lastIndexOf('-'); end > 0; end = ref.lastIndexOf('-', end - 1)) {
    if (isActiveCode('OrganisationRegistrationAgency', ref.slice(0, end))) return true
  }
  return false
}

/** The English name of a code, withdrawn ones included; undefined when it is not on the list. */
export function codeName(list: string, code: string): string | undefined {
  return codeList(list).codes.get(code)?.name
}

/** The name of a code in French or German; undefined for lists whose codes no page names, and for sectors in German. */
export function translatedCodeName(
  language: keyof typeof namesByLanguage,
  list: string,
  code: string,
): string | undefined {
  const names = namesByLanguage[language][list]
  return names && Object.hasOwn(names, code) ? names[code] : undefined
}

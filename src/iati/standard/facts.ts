/**
 * The simple types of XML Schema that IATI 2.03 uses; `language` is that of `xml:lang`, which may also be empty.
 * @internal for the program that extracts the data (test/support/iati/standard)
 */
export const simpleTypes = [
  'string',
  'date',
  'dateTime',
  'decimal',
  'boolean',
  'anyURI',
  'int',
  'nonNegativeInteger',
  'positiveInteger',
  'NMTOKEN',
  'language',
] as const

export type SimpleType = (typeof simpleTypes)[number]

/**
 * What an element may hold: only elements (white space aside), only text of a simple type, or (`any`) everything, where
 * the schema declares no type.
 */
export type ContentFact = 'elements' | 'any' | SimpleType

/** Name, minOccurs, maxOccurs (`null`: unbounded) and type of a child; `*` stands for elements of a foreign namespace. */
type ChildFact = readonly [name: string, least: number, most: number | null, type: number]

/** Name, type and whether it is required. */
type AttributeFact = readonly [name: string, type: SimpleType, required: 0 | 1]

type TypeFact = {
  readonly content: ContentFact
  readonly attributes: readonly AttributeFact[]
  /** Whether attributes of a foreign namespace are allowed. */
  readonly foreign: 0 | 1
  /** In the order that the schema demands. */
  readonly children: readonly ChildFact[]
}

/** `data/structure.json`: the types of both schemas; `roots` names the type of each root element. */
export type StructureFacts = {
  readonly version: string
  readonly roots: Readonly<Record<string, number>>
  readonly types: readonly TypeFact[]
}

/** Applies only where the attribute equals the value, or, with `orAbsent`, is absent. */
export type ConditionFact = { readonly attribute: string; readonly equals: string; readonly orAbsent: boolean }

/** One row of the official mapping: which code list governs the attribute (`null`: the text) of an element. */
export type CodeListMapping = {
  /** Path from the root element, `/iati-activities/iati-activity/sector`; `*` stands for every element. */
  readonly path: string
  readonly attribute: string | null
  readonly codelist: string
  readonly condition?: ConditionFact
}

/** Code, name, and 1 when it is withdrawn. */
type CodeFact = readonly [code: string, name: string, withdrawn?: 1]

/** `data/codelists.json`. `complete`: the standard says that no other code is allowed. */
export type CodeListFact = { readonly complete: boolean; readonly codes: readonly CodeFact[] }

/** `data/origin.json`: what the other data was extracted from. */
export type OriginFacts = {
  readonly version: string
  readonly sources: readonly Readonly<Record<string, string>>[]
  /** SHA-256 of each file read, by its path in the directory. */
  readonly files: Readonly<Record<string, string>>
}

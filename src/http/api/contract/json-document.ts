import type { openApiDocument } from './document.js'
import { arraysInJson } from './schemas.js'

type Json = Readonly<Record<string, unknown>>
type Operation = {
  readonly security: readonly Json[]
  readonly requestBody?: Json
  readonly responses: Readonly<Record<string, Json>>
}

const json = 'application/json'
/** With JSON these say the same; operations that answer with anything else have files. */
const twins: readonly string[] = [json, 'application/xml', 'application/atom+xml']

const description = `The operations that answer in JSON, at addresses that end in .json wherever the same address without it may answer in XML. /api/openapi.json describes both formats and all other files. Clients must ignore fields that they do not know, since fields may be added; nothing is removed, renamed, retyped or made required.

Key and token are headers, or the query parameters api_key and api_token: both ways are accepted for ever.`

/**
 * The same description for JSON alone. Generated clients accept any type, which must get XML (wire.md 1.1): here the address
 * asks for JSON, and the types have what JSON has and XML has not.
 */
export function jsonDocument({ info, paths, components, ...rest }: ReturnType<typeof openApiDocument>) {
  return withoutXml({
    ...rest,
    info: { ...info, description },
    paths: Object.fromEntries(
      Object.entries(paths).flatMap(([path, methods]) => {
        const kept = Object.entries(methods as Record<string, Operation>).filter(([, one]) => answersInJson(one))
        if (kept.length === 0) return []
        const both = kept.some(([, { responses }]) => mediaTypes(responses[200]).length > 1)
        return [[both ? `${path}.json` : path, mapped(Object.fromEntries(kept), inJson)]]
      }),
    ),
    components: {
      ...components,
      responses: mapped(components.responses as Readonly<Record<string, Json>>, onlyJson),
      schemas: Object.fromEntries(
        Object.entries(components.schemas).map(([name, schema]) => {
          const array = arraysInJson[name]
          return [name, array === undefined ? schema : { ...schema, required: [...required(schema), array] }]
        }),
      ),
    },
  })
}

function answersInJson({ responses }: Operation): boolean {
  const types = mediaTypes(responses[200])
  return types.includes(json) && types.every((type) => twins.includes(type))
}

function inJson({ security, requestBody, responses, ...operation }: Operation): Json {
  return {
    ...operation,
    // Headers first: many generated clients take the first way, and the other one has the secrets in the address.
    security: security.toReversed(),
    ...(requestBody && { requestBody: onlyJson(requestBody) }),
    responses: mapped(responses, onlyJson),
  }
}

function onlyJson({ content, ...body }: Json): Json {
  const own = (content as Json | undefined)?.[json]
  return own === undefined ? body : { ...body, content: { [json]: own } }
}

function mediaTypes(response: Json | undefined): string[] {
  return Object.keys((response?.content as Json | undefined) ?? {})
}

function required({ required = [] }: Json): readonly unknown[] {
  return required as readonly unknown[]
}

function mapped<T>(members: Readonly<Record<string, T>>, map: (member: T) => Json): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, map(member)]))
}

/** A copy without the names and attributes that schemas have in XML; no field and no example has the name `xml`. */
function withoutXml<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === 'xml' ? undefined : member)))
}

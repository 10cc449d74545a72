import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import type { Description } from './api-description.js'

type Json = Readonly<Record<string, unknown>>

const json = 'application/json'
const header = `// The types of the operations that answer with JSON, made from openapi.json by \`npm run api:describe\`.

`
/** Declarations that are always made and always empty here. */
const leftOut = new Set(['webhooks', '$defs'])

/** The TypeScript types that the published client is typed with. */
export async function clientTypes(description: Description): Promise<string> {
  // Fields with a default may be absent in a request; an object without described members may have any.
  const options = { immutable: true, defaultNonNullable: false, emptyObjectsUnknown: true, silent: true }
  const nodes = await openapiTS(inJson(description) as unknown as OpenAPI3, options)
  return header + astToString(nodes.filter((node) => !(ts.isTypeAliasDeclaration(node) && leftOut.has(node.name.text))))
}

/** A copy of the description with JSON alone, without headers, examples and operations that answer with something else. */
function inJson({ paths, components, ...rest }: Description): Json {
  const kept = mapped(paths, (methods) =>
    mapped(methods, ({ requestBody, responses, ...operation }) => {
      if (contentOf(responses[200])[json] === undefined) return undefined
      return {
        ...operation,
        ...(requestBody && { requestBody: only(requestBody) }),
        responses: mapped(responses, only),
      }
    }),
  )
  return structuredClone({
    ...rest,
    paths: kept,
    components: { ...components, responses: mapped(components.responses ?? {}, only) },
  })
}

function only({ headers: _headers, ...body }: Json): Json {
  const { [json]: content } = contentOf(body)
  const { content: _all, ...rest } = body
  return content === undefined ? rest : { ...rest, content: { [json]: { schema: (content as Json).schema } } }
}

function contentOf(body: Json | undefined): Json {
  return (body?.content ?? {}) as Json
}

/** The members as the function gives them; one that it gives nothing for, or nothing in, is left out. */
function mapped<T>(
  members: Readonly<Record<string, T>>,
  map: (member: T) => Json | undefined,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => {
      const made = map(member)
      return made === undefined || Object.keys(made).length === 0 ? [] : [[name, made]]
    }),
  )
}

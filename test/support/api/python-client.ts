import { readProjectFile } from '../documents/markdown-table.js'
import { type DescribedOperation, type Description, operationsOf, responseOf } from './api-description.js'

/** Name of the client for Python, whose first and last part is written by hand. */
export const pythonClientFile = 'src/client/giving.py'

const [begin, end] = ['    # The operations of openapi.json', '    # The end of the operations.']

type Parameter = { readonly name: string; readonly in: string }

/** The client for Python with a method for each operation of the API that answers in JSON. */
export function pythonClient(description: Description): string {
  const text = readProjectFile(pythonClientFile)
  const from = text.indexOf('\n', text.indexOf(begin)) + 1
  const methods = operationsOf(description)
    .filter(
      ({ path, operation }) =>
        /^\/api\/(userservice|public|secure)\/(?!payments)/.test(path) && answersJson(description, operation),
    )
    .map((request) => methodOf(description, request))
  return `${text.slice(0, from)}\n${methods.join('\n')}\n${text.slice(text.indexOf(end))}`
}

function answersJson(description: Description, { responses }: DescribedOperation): boolean {
  const content = responses['200'] && responseOf(description, responses['200']).content
  return content?.['application/json'] !== undefined
}

function methodOf(
  description: Description,
  { method, path, operation }: ReturnType<typeof operationsOf>[number],
): string {
  const parameters = (operation.parameters ?? []).map((parameter) => resolved(description, parameter))
  const names = (place: string) => parameters.filter((one) => one.in === place).map(({ name }) => name)
  const [inPath, inQuery] = [names('path'), names('query')]
  const optional = inQuery.length > 0 ? ['*', ...inQuery.map((name) => `${name}: Any = None`)] : []
  const body = operation.requestBody ? ['body: Body'] : []
  const taken = ['self', ...inPath.map((name) => `${name}: Any`), ...body, ...optional].join(', ')
  const address = inPath.reduce((text, name) => text.replace(`{${name}}`, `{_path(${name})}`), path)
  const query = inQuery.length > 0 ? `{${inQuery.map((name) => `"${name}": ${name}`).join(', ')}}` : 'None'
  const sent = [
    `"${method}"`,
    `${inPath.length > 0 ? 'f' : ''}"${address}"`,
    query,
    ...(body.length > 0 ? ['body'] : []),
  ]
  const name = operation.operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return `    def ${name}(${taken}) -> Answer:
        """${operation.summary}. ${operation.description}"""
        return self.send(${sent.join(', ')})
`
}

function resolved(description: Description, parameter: Readonly<Record<string, unknown>>): Parameter {
  const { $ref } = parameter
  return (
    typeof $ref === 'string' ? description.components.parameters?.[$ref.split('/').at(-1) ?? ''] : parameter
  ) as Parameter
}

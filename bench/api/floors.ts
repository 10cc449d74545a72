import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import { openStore } from '../../src/platform/database/store.js'

/**
 * The floors of the API, in a process of their own: bare node:http with fixed bytes, and bare Fastify routes whose one named
 * statement returns the same page as ready text. Prints its ports as JSON; exits when its input ends.
 */
const [databaseUrl = '', poolSize = '10'] = process.argv.slice(2)
// The time limit of a statement is that of the API.
const pool = openStore({ url: databaseUrl, max: Number(poolSize), applicationName: 'bench floors' })
const store = pool.answeringWithin(10_000)

const one = async (name: string, text: string, value: number): Promise<string> => {
  const { rows } = await store.db.query<{ text: string }>(text, [value], name)
  return rows[0]?.text ?? ''
}
const list = (column: 'xml' | 'json', separator: string) => `
  select string_agg(${column}, '${separator}' order by project_id) as text
  from (select project_id, ${column} from wire_record where project_id >= $1 order by project_id limit 10) page`
const listXml = async (from: number) =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<projects numberFound="1">${await one('x', list('xml', ''), from)}</projects>`
const listJson = async (from: number) =>
  `{"projects":{"project":[${await one('j', list('json', ','), from)}],"numberFound":1}}`
const projectJson = async (id: number) =>
  `{"project":${await one('p', 'select json as text from wire_record where project_id = $1', id)}}`

const app = fastify()
const route = (path: string, type: string, read: (id: number) => Promise<string>) =>
  app.get<{ Querystring: { id: string } }>(path, async (request, reply) =>
    reply.header('content-type', type).send(Buffer.from(await read(Number(request.query.id)))),
  )
route('/list.xml', 'application/xml', listXml)
route('/list.json', 'application/json', listJson)
route('/project.json', 'application/json', projectJson)
await app.listen({ host: '127.0.0.1', port: 0 })

const fixed = new Map([
  ['/list.xml', Buffer.from(await listXml(1))],
  ['/list.json', Buffer.from(await listJson(1))],
  ['/project.json', Buffer.from(await projectJson(1))],
])
const bare = createServer((request, response) => {
  const body = fixed.get((request.url ?? '').split('?')[0] ?? '')
  response.setHeader('content-type', 'application/json')
  response.end(body)
})
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve))

process.stdout.write(
  `${JSON.stringify({ fastify: (app.server.address() as AddressInfo).port, http: (bare.address() as AddressInfo).port })}\n`,
)
process.stdin.resume()
process.stdin.on('end', async () => {
  bare.closeAllConnections()
  bare.close()
  await app.close()
  await pool.close()
})

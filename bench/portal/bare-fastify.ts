import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fastify } from 'fastify'

/** The floor, in a process of its own: a bare Fastify route that sends the bytes of one page from memory. */
const [address = ''] = process.argv.slice(2)
const page = Buffer.from(await (await fetch(address)).arrayBuffer())
const app = fastify()
app.get('/page', async (_request, reply) => reply.header('content-type', 'text/html; charset=utf-8').send(page))
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`"http://127.0.0.1:${(app.server.address() as AddressInfo).port}"\n`)
await text(process.stdin)
await app.close()

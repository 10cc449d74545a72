import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/** The floor, in a process of its own: node:http and createReadStream over a file and its twin. Exits when its input ends. */
const [file = ''] = process.argv.slice(2)
const sizes = { identity: (await stat(file)).size, gzip: (await stat(`${file}.gz`)).size }

const server = createServer((request, response) => {
  const gzip = request.headers['accept-encoding'] === 'gzip'
  response.writeHead(200, {
    'content-type': 'application/xml; charset=utf-8',
    'content-length': gzip ? sizes.gzip : sizes.identity,
    ...(gzip && { 'content-encoding': 'gzip' }),
  })
  pipeline(createReadStream(gzip ? `${file}.gz` : file), response, () => undefined)
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
process.stdout.write(`"http://127.0.0.1:${(server.address() as AddressInfo).port}"\n`)
process.stdin.resume()
process.stdin.on('end', () => {
  server.closeAllConnections()
  server.close()
})

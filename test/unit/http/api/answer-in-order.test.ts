import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { answerInOrder, endAfterAnswers } from '../../../../src/http/api/answer-in-order.js'

/** A server that answers when the test says so. */
async function serving(most: number) {
  const asked: { url: string; response: ServerResponse }[] = []
  const handler = answerInOrder((request, response) => void asked.push({ url: request.url ?? '', response }), most)
  const server = createServer(handler).listen(0, '127.0.0.1')
  server.on('clientError', (_error, socket) => {
    if (!endAfterAnswers(socket as Socket)) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const send = (paths: readonly string[]): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
    return socket
  }
  return { asked, send, urls: () => asked.map(({ url }) => url) }
}

it('hands requests that were sent ahead over one by one, each after the answer to the one before', async () => {
  const { asked, send, urls } = await serving(10)
  const socket = send(['/1', '/2', '/3'])
  for (const count of [1, 2, 3]) {
    await expect.poll(() => asked).toHaveLength(count)
    asked[count - 1]?.response.end(`answer ${count}`)
  }
  socket.end()
  expect((await text(socket)).match(/answer \d/g)).toEqual(['answer 1', 'answer 2', 'answer 3'])
  expect(urls()).toEqual(['/1', '/2', '/3'])
})

it('keeps one connection from holding up another, and takes later requests of the same one', async () => {
  const { asked, send, urls } = await serving(10)
  send(['/slow'])
  await expect.poll(() => urls()).toEqual(['/slow'])
  const other = send(['/1'])
  await expect.poll(() => urls()).toEqual(['/slow', '/1'])
  asked[1]?.response.end()
  await once(other, 'readable')
  other.write('GET /2 HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(() => urls()).toEqual(['/slow', '/1', '/2'])
  for (const { response } of asked) response.end()
})

it('cuts a connection that sends too many ahead', async () => {
  const { send, urls } = await serving(2)
  const socket = send(['/1', '/2', '/3', '/4', '/5'])
  await once(socket, 'close')
  expect(urls()).toEqual(['/1'])
})

it('hands nothing over of a connection that has closed', async () => {
  const { asked, send, urls } = await serving(10)
  const socket = send(['/1', '/2'])
  await expect.poll(() => asked).toHaveLength(1)
  const closed = once(asked[0]?.response as ServerResponse, 'close')
  socket.destroy()
  await closed
  await new Promise(setImmediate)
  expect(urls()).toEqual(['/1'])
})

it('answers the requests before what is not HTTP, and ends the connection then', async () => {
  const { asked, send, urls } = await serving(10)
  const socket = send(['/1', '/2'])
  socket.write('POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense')
  for (const count of [1, 2]) {
    await expect.poll(() => asked).toHaveLength(count)
    asked[count - 1]?.response.end(`answer ${count}`)
  }
  expect((await text(socket)).match(/answer \d|HTTP\/1\.1 \d+/g)).toEqual([
    ...['HTTP/1.1 200', 'answer 1', 'HTTP/1.1 200', 'answer 2'],
  ])
  expect(urls()).toEqual(['/1', '/2'])
})

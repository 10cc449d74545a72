import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Installation, newInstallation, type RunningService } from '../support/commands/cli.js'
import { freePort } from '../support/servers/free-port.js'
import { testDatabase } from '../support/store/database.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const missing = process.platform === 'linux' ? undefined : 'only Linux has /proc'
const megabyte = 1_048_576
const gigabyte = scaled(1_024) * megabyte

describe.skipIf(missing)('large files that are sent to the console of an API process', async () => {
  const { url } = await testDatabase()
  let installation: Installation
  let api: RunningService
  let base: string

  beforeAll(async () => {
    const port = await freePort()
    base = `http://127.0.0.1:${port}`
    installation = await newInstallation({ DATABASE_URL: url, OPS_PORT: String(port), DEFAULT_CURRENCY: 'EUR' })
    api = await installation.serve('api')
  })
  afterAll(() => installation?.remove())

  const megabytes = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8'))?.[1]) / 1024
  const page = async (address: string) => await (await fetch(base + address)).text()
  /** Sends a file of these rows, of which no more than a block is ever in memory. */
  const send = async (name: string, rows: () => Iterable<string>) => {
    const [, token = ''] = /name="token" value="(\w+)"/.exec(await page('/imports')) ?? []
    const field = (of: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${of}"\r\n\r\n${value}\r\n`
    const parts = function* () {
      yield `${field('token', token)}${field('name', 'Ana')}--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
      yield* rows()
      yield '\r\n--b--\r\n'
    }
    // A client of Node writes no more once it has an answer.
    const socket = connect(Number(new URL(base).port), '127.0.0.1')
    socket.setMaxListeners(0)
    const answered = once(socket, 'data')
    const head = ['POST /imports/uploads HTTP/1.1', `Host: ${new URL(base).host}`, `Origin: ${base}`]
    socket.write(
      `${[...head, 'Content-Type: multipart/form-data; boundary=b', 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`,
    )
    for (const part of parts()) {
      const isFull = !socket.write(`${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`)
      if (isFull) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
      if (socket.destroyed) break
    }
    socket.write('0\r\n\r\n')
    const [bytes] = await answered
    const answer = String(bytes)
    socket.destroy()
    return { status: Number(answer.split(' ', 2)[1]), location: /^location: (.*)$/im.exec(answer)?.[1]?.trim() }
  }
  const waiting = () => {
    try {
      return readdirSync(path.join(installation.dataDir, 'uploads'))
    } catch {
      return []
    }
  }

  it('refuses a gigabyte, keeps nothing of it, and answers others', async () => {
    const before = megabytes()
    const block = 'G-1;w-1;10,00;EUR;01.03.2026\n'.repeat(36_000)
    const sending = send('gifts.csv', function* () {
      for (let bytes = 0; bytes < gigabyte; bytes += block.length) yield block
    })
    const others: number[] = []
    for (let asked = 0; asked < 20; asked++) others.push((await fetch(`${base}/healthz`)).status)
    const answer = await sending
    if (gigabyte > 200 * megabyte) {
      expect(answer).toMatchObject({ status: 413 })
      expect(waiting()).toEqual([])
    }
    const used = megabytes() - before
    expect(others).toEqual(Array(20).fill(200))
    expect(used).toBeLessThan(250)
    record({
      ...{ name: 'a gigabyte sent to the console as one file', engine: '-', tried: 1 },
      outcome: `refused at 200 MB, nothing left; ${Math.round(used)} MB more at most, 20 of 20 requests of others answered`,
    })
  })

  it('shows what a file of the largest size would become, in bounded memory', async () => {
    const before = megabytes()
    const rows = scaled(3_000_000)
    const answer = await send('projects.csv', function* () {
      yield 'externalId,title,status\n'
      for (let at = 0; at < rows; at += 10_000) {
        yield Array.from(
          { length: 10_000 },
          (_, row) => `p-${at + row},Wells for the village number ${at + row},broken\n`,
        ).join('')
      }
    })
    expect(answer).toMatchObject({ status: 303 })
    let shown = await page(String(answer.location))
    for (; !shown.includes('0 would be created'); shown = await page(String(answer.location)))
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(shown).toContain('are refused.')
    const used = megabytes() - before
    expect(used).toBeLessThan(400)
    record({
      ...{ name: 'a file of 3,000,000 rows looked at in the console', engine: '-', tried: 1 },
      outcome: `its problems were shown; ${Math.round(used)} MB more at most`,
    })
  })
})

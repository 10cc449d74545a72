import { readdir, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { crc32, deflateSync, gzipSync } from 'node:zlib'
import pino from 'pino'
import sharp from 'sharp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pictures as job } from '../../../jobs/pictures.js'
import type { JobCall } from '../../../jobs/queue-worker.js'
import type { WorkTableDeps } from '../../../jobs/work.js'
import { openPictures } from '../../../src/cli/wiring/deliveries.js'
import type { WorkRuntime } from '../../../src/cli/wiring/open-work.js'
import { mirrorPictures, type PictureMirror } from '../../../src/outbound/pictures/mirror-pictures.js'
import { readConfig, type UpstreamConfig } from '../../../src/platform/config/config.js'
import { takeLock } from '../../../src/platform/database/locks.js'
import { MirroredPictures, readPictureList } from '../../../src/release/read/mirrored-pictures.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { listen, testApi } from '../../support/api/api.js'
import { browserProgram, launchBrowser } from '../../support/portal/browser.js'
import { testPublisher } from '../../support/release/publishing.js'
import { afterFile } from '../../support/runner/after-file.js'
import { testDatabase } from '../../support/store/database.js'
import { storeWells } from '../../support/store/wells-store.js'

if (!browserProgram) console.log('left out: mirrored pictures in a browser (install Debian’s package chromium)')

const never = new AbortController().signal
const hour = 3_600_000

/** A picture whose sides differ, as a phone writes it: to be turned, with where it was taken. */
async function photo(width: number, height: number, colour: string): Promise<Buffer> {
  const exif = { IFD0: { Copyright: 'Amina Sesay' }, IFD3: { GPSLatitude: '7/1 57/1 0/1' } }
  const picture = sharp({ create: { width, height, channels: 3, background: colour } })
  return await picture.withMetadata({ orientation: 6 }).withExifMerge(exif).jpeg().toBuffer()
}

/** A PNG of some hundred bytes that says it has 3,600 million pixels. */
function bomb(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.from([0, 0, 234, 96, 0, 0, 234, 96, 8, 2, 0, 0, 0])
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(9999))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><image href="file:///etc/passwd"/></svg>`

describe('the mirror of pictures', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  const asked: string[] = []
  const log: Record<string, unknown>[] = []
  const time = { now: new Date('2026-11-21T03:00:00Z') }
  let isBack = false

  const whole = await photo(1200, 800, '#336699')
  const cut = whole.subarray(0, whole.length / 2)
  const pixel = await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
    .gif()
    .toBuffer()
  const send =
    (bytes: Buffer | string, headers = {}): RequestListener =>
    (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/jpeg', ...headers }).end(bytes)
  const answers: Record<string, RequestListener> = {
    '/card.jpg': send(whole, { 'content-type': 'text/html' }),
    '/photo.jpg': send(await photo(900, 600, '#996633')),
    '/same.jpg': send(whole),
    '/in-text.jpg?a=1&b=2': send(await photo(700, 500, '#339966')),
    '/moved.jpg': (_request, response) => response.writeHead(302, { location: '/photo.jpg' }).end(),
    '/svg.jpg': send(svg, { 'content-type': 'image/svg+xml' }),
    '/page.jpg': send('<!DOCTYPE html><p>Not here'),
    '/cut.jpg': send(cut),
    '/pixel.jpg': send(pixel),
    '/bomb.jpg': send(bomb()),
    '/zipped.jpg': send(gzipSync(Buffer.alloc(40_000_000)), { 'content-encoding': 'gzip' }),
    '/huge.jpg': (_request, response) => {
      response.on('error', () => undefined)
      for (let part = 0; part < 20; part++) response.write(Buffer.alloc(1_048_576, part))
      response.end()
    },
    '/slow.jpg': () => undefined,
    '/gone.jpg': (_request, response) => (isBack ? send(whole)(_request, response) : response.writeHead(404).end()),
  }
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const answer = answers[request.url ?? '']
    if (answer) answer(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterFile(async () => server.closeAllConnections())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await storeWells(store.db)
  await store.db.query('delete from photo where position = 1')
  await store.db.query(
    `update photo set small_url = null, thumbnail_url = null, medium_url = null, large_url = null, extra_large_url = null,
        original_url = $1`,
    [`${base}/card.jpg`],
  )
  await store.db.query(`update progress_report set content_html = $1 where id = 9002`, [
    `<p>The pump runs.</p><img src="${base}/in-text.jpg?a=1&amp;b=2" alt="The pump">`,
  ])
  const others = ['photo', 'same', 'moved', 'svg', 'page', 'cut', 'pixel', 'bomb', 'zipped', 'huge', 'slow', 'gone']
  for (const [at, name] of others.entries()) {
    await store.db.query(`insert into report_image values (9002, $1, $2, 'image/jpeg')`, [
      at + 1,
      `${base}/${name}.jpg`,
    ])
  }
  // A page shows 20 reports; the picture of the one before them is not asked for.
  await store.db.query(
    `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url, source)
      select 9100 + n, 2061, 'Books', day, day, case n when 0 then $1 else '<p>More books.</p>' end, $2 || n, 'local'
        from generate_series(0, 20) n, lateral (select timestamptz '2026-06-01T00:00:00Z' + n * interval '1 day' as day) d`,
    [`<img src="${base}/older.jpg" alt="Books">`, 'https://giving.example/projects/books-for-cusco/updates/'],
  )
  const publisher = await testPublisher(store)
  await publisher.publish()
  const api = await testApi(store, {
    store,
    releases: createReleaseReader(publisher.feedsDir),
    pictures: new MirroredPictures(publisher.feedsDir),
  })

  const mirror = async (changes: Partial<PictureMirror['config']> = {}) => {
    asked.length = 0
    return await mirrorPictures(
      {
        ...{ store, feedsDir: publisher.feedsDir, clock: () => time.now, baseUrl: 'https://giving.example' },
        config: { upstream: undefined, allowPrivateNetworks: true, ...changes },
        log: pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
      },
      never,
    )
  }
  const folder = () => path.join(publisher.feedsDir, 'pictures')
  const page = async (address: string) => (await api.app.inject(address)).body
  const shown = (body: string) => [...body.matchAll(/<img src="([^"]*)"/g)].map(([, address = '']) => address)
  const good = ['/card.jpg', '/in-text.jpg?a=1&b=2', '/moved.jpg', '/photo.jpg', '/same.jpg']

  it('asks nobody in a private network, and says once why a picture is not there', async () => {
    expect(await mirror({ allowPrivateNetworks: false })).toBe('0 fetched, 14 not to be had')
    expect(asked).toEqual([])
    const said = log.filter(({ url }) => url === `${base}/card.jpg`)
    expect(said).toMatchObject([{ reason: expect.stringContaining('is not a public address') }])
    expect(await page('/projects')).toContain('<span class="blank" aria-hidden="true">Clean Water</span>')
    expect(await page('/projects/2045')).toContain(`href="${base}/photo.jpg"`)
    expect(await mirror()).toBe('nothing to fetch')
  })

  it('fetches each picture once, whatever its type is said to be, and no other file', async () => {
    log.length = 0
    time.now = new Date(time.now.getTime() + hour)
    expect(await mirror()).toBe('5 fetched, 9 not to be had')
    expect([...new Set(asked)].sort()).toEqual([
      ...[
        ...good,
        ...['bomb', 'cut', 'gone', 'huge', 'page', 'pixel', 'slow', 'svg', 'zipped'].map((one) => `/${one}.jpg`),
      ].sort(),
    ])
    // Known since they could not be had before.
    expect(log.filter(({ url }) => url !== undefined)).toEqual([])
    const list = await readPictureList(folder())
    const kept = list?.pictures.filter(({ file }) => file !== undefined)
    expect(kept?.map(({ url }) => url.slice(base.length)).sort()).toEqual(good)
    expect(list?.pictures[0]).toMatchObject({ url: `${base}/card.jpg` })
    // The same picture is one file.
    expect((await readdir(folder())).length).toBe(1 + 3)
    expect(await mirror()).toBe('nothing to fetch')
    expect(asked).toEqual([])
  })

  it('shows them on cards and pages, at addresses of this host that never change', async () => {
    const [card = ''] = shown(await page('/projects'))
    expect(card).toMatch(/^\/pictures\/mirrored\/[0-9a-f]{64}\.webp$/)
    const { body, headers } = await api.app.inject('/projects/2045')
    expect(shown(body).filter((one) => one.startsWith('/pictures/mirrored/')).length).toBeGreaterThanOrEqual(5)
    expect(body).toMatch(/<img src="\/pictures\/mirrored\/[^"]+" alt="The pump" loading="lazy">/)
    expect(body).not.toContain(`src="${base}`)
    expect(body).toContain(`href="${base}/svg.jpg"`)
    expect(headers['content-security-policy']).toContain("img-src 'self'")
    expect(await page('/embed/projects/2045')).toContain(card)
    const picture = await api.app.inject(card)
    expect(picture.headers).toMatchObject({
      ...{ 'content-type': 'image/webp', 'cache-control': 'public, max-age=31536000, immutable' },
      'x-content-type-options': 'nosniff',
    })
    const metadata = await sharp(picture.rawPayload).metadata()
    // Turned as it is meant to be seen, bounded, and nothing else of the file.
    expect([metadata.format, metadata.width, metadata.height]).toEqual(['webp', 427, 640])
    expect([metadata.exif, metadata.icc, metadata.orientation]).toEqual([undefined, undefined, undefined])
    for (const wrong of ['index.json', '..%2ffolder-id', `${'a'.repeat(64)}.webp`]) {
      expect((await api.app.inject(`/pictures/mirrored/${wrong}`)).statusCode).toBe(404)
    }
  })

  it.skipIf(!browserProgram)('is seen in a browser, which asks no other host', async () => {
    const address = await listen(api.app)
    const browser = await launchBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    const others: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(`${address}/`)) others.push(request.url())
    })
    for (const place of ['/projects', '/projects/2045', '/embed/projects/2045']) {
      await page.goto(`${address}${place}`)
      const picture = page.locator('img[src^="/pictures/mirrored/"]').first()
      await picture.scrollIntoViewIfNeeded()
      await expect
        .poll(async () => await picture.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth))
        .toBeGreaterThan(300)
    }
    expect(others).toEqual([])
  })

  it('asks again for what could not be had, later each time', async () => {
    isBack = true
    time.now = new Date(time.now.getTime() + hour)
    expect(await mirror()).toBe('nothing to fetch')
    time.now = new Date(time.now.getTime() + hour)
    expect(await mirror()).toBe('1 fetched, 8 not to be had')
    expect(await page('/projects/2045')).not.toContain(`href="${base}/gone.jpg"`)
  })

  it('is left to one process at a time, and removes what no page shows any more', async () => {
    const lock = await takeLock(store.db, 'pictures')
    expect(await mirror()).toBe('another process fetches')
    await lock?.[Symbol.asyncDispose]()
    const [card = ''] = shown(await page('/projects'))
    await store.db.query('delete from photo')
    await store.db.query(`delete from report_image where url not like '%photo.jpg'`)
    // What a killed process has left.
    await writeFile(path.join(folder(), `${'b'.repeat(64)}.webp.part`), 'half')
    publisher.now = new Date(publisher.now.getTime() + 60_000)
    await publisher.publish()
    await mirror()
    expect((await readdir(folder())).length).toBe(1 + 2)
    expect(shown(await page('/projects'))).toEqual([])
    expect((await api.app.inject(card)).statusCode).toBe(404)
    expect(shown(await page('/projects/2045')).length).toBeGreaterThan(0)
    // A list that nobody can read is made again.
    await writeFile(path.join(folder(), 'index.json'), '{')
    expect(shown(await page('/projects/2045'))).toEqual([])
    const upstream = { url: 'https://platform.example', hosts: ['pictures.example'] } as unknown as UpstreamConfig
    expect(await mirror({ upstream })).toBe('0 fetched, 2 not to be had')
    expect(log.at(-2)).toMatchObject({ reason: expect.stringContaining('one of the hosts of UPSTREAM_HOSTS') })
    time.now = new Date(time.now.getTime() + hour)
    expect(await mirror()).toBe('2 fetched, 0 not to be had')
  })

  it('is a job where PICTURES says so, and machines share its folder', async () => {
    const open = (environment: Record<string, string>) => {
      const { config, secrets } = readConfig({ BASE_URL: 'https://giving.example', ...environment })
      expect(Object.keys(job.schedules(config))).toEqual(environment.PICTURES === 'mirror' ? ['pictures'] : [])
      const { feedsDir } = publisher
      const deps = { config, secrets, store, feedsDir, clock: () => time.now, log: pino({ level: 'silent' }) }
      const mirrorPictures = openPictures(deps as unknown as WorkRuntime)
      return job.open({ ...deps, mirrorPictures } as unknown as WorkTableDeps)
    }
    expect(open({})).toBeUndefined()
    const opened = open({ PICTURES: 'mirror' })
    expect(await opened?.tick?.({ signal: never } as JobCall)).toBe('nothing to fetch')
    const shared = { PICTURES: 'mirror', FEEDS_S3_BUCKET: 'giving', FEEDS_S3_IS_FOLDER: 'on' }
    expect(() => readConfig({ BASE_URL: 'https://giving.example', ...shared }).config.pictures).toThrow(
      /PICTURES: expected links, since FEEDS_S3_IS_FOLDER is on/,
    )
  })
})

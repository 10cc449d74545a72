import { generateKeyPairSync, sign } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'

/** An answer of the service, before somebody in between changes it. */
export type Passing = {
  readonly method: string
  readonly url: string
  status: number
  readonly headers: Record<string, string | undefined>
  body: Buffer
}

/** What a set looks like to its readers after somebody changed it. `state`: they have been there before. */
export type Tampering = {
  readonly name: string
  readonly state?: 'newest' | 'first'
  readonly hoursLater?: number
  readonly change: (answer: Passing) => void
}

type Chain = { releases: Record<string, unknown>[] }
type Manifest = { run: number; release: string; generated: string; files: Record<string, unknown>[] }

const live = (path: string) => (url: string) => url === path
const kept = (path: string) => (url: string) => /^\/feeds\/releases\/[^/]+(\/.*)$/.exec(url)?.[1] === path
const activities = '/iati/activities.xml'
const other = (text: string) => text.replace('Second', 'Zecond')

/** Changes what these addresses answer, compressed or not. */
function texts(matches: (url: string) => boolean, change: (text: string) => string, encoding?: 'gzip') {
  return (answer: Passing) => {
    const isGzip = answer.headers['content-encoding'] === 'gzip'
    if (!matches(answer.url) || answer.method === 'HEAD' || (encoding === 'gzip' && !isGzip)) return
    const text = change((isGzip ? gunzipSync(answer.body) : answer.body).toString())
    answer.body = isGzip ? gzipSync(text) : Buffer.from(text)
  }
}

const json = <T>(path: string, change: (document: T) => unknown) =>
  texts(live(path), (text) => {
    const document = JSON.parse(text) as T
    return JSON.stringify(change(document) ?? document)
  })
const chain = (change: (document: Chain) => unknown) => json<Chain>('/feeds/releases.json', change)
const manifest = (change: (document: Manifest) => unknown) => json<Manifest>('/feeds/manifest.json', change)
const checked = (change: (document: Record<string, unknown>) => unknown) => json('/feeds/checked.json', change)
const last = ({ releases }: Chain) => releases.at(-1) as Record<string, unknown>

const answers = (matches: (url: string) => boolean, change: (answer: Passing) => void) => (answer: Passing) => {
  if (matches(answer.url)) change(answer)
}
const status = (code: number) => (answer: Passing) => {
  answer.status = code
}
const header =
  (name: string, value: string | undefined, method = 'GET') =>
  (answer: Passing) => {
    if (answer.method === method) answer.headers[name] = value
  }
const feed = '/feeds/projects/1/reports.atom'
const single = (format: string) => (url: string) => /^\/iati\/activities\/[^/]+\.\w+$/.test(url) && url.endsWith(format)

/** Ways to change a set between its publisher and its readers, by somebody without its key. */
export const tamperings: readonly Tampering[] = [
  { name: 'other bytes in a file', change: texts(live(activities), other) },
  { name: 'other bytes in the kept file', change: texts(kept(activities), other) },
  { name: 'other bytes in both', change: texts((url) => url.endsWith(activities), other) },
  { name: 'a shortened file', change: texts(live(activities), (text) => text.slice(0, -20)) },
  { name: 'a longer kept file', change: texts(kept(activities), (text) => `${text}\n`) },
  { name: 'another compressed file', change: texts(kept(activities), other, 'gzip') },
  {
    name: 'a compressed file that is broken',
    change: answers(kept(activities), (answer) => {
      if (answer.headers['content-encoding'] === 'gzip') answer.body = Buffer.from(answer.body).fill(7, 30, 60)
    }),
  },
  { name: 'a compressed file that was compressed anew', change: texts(kept(activities), (text) => text, 'gzip') },
  { name: 'a file that is missing', change: answers(live(activities), status(404)) },
  { name: 'a kept file that is missing', change: answers(kept(activities), status(404)) },
  { name: 'a redirect in place of a file', change: answers(live(activities), status(302)) },
  { name: 'an error in place of a file', change: answers(live('/iati/organisations.xml'), status(500)) },
  { name: 'another organisation file', change: texts(live('/iati/organisations.xml'), (text) => `${text} `) },
  { name: 'another list of feeds', change: texts(live('/feeds/opml.xml'), (text) => text.replace('http', 'hxxp')) },
  {
    name: 'another table',
    change: texts(
      (url) => url.endsWith('/data/transactions.csv'),
      (text) => `${text}x\n`,
    ),
  },
  { name: 'another tag', change: answers(live(activities), header('etag', '"0000"')) },
  { name: 'another date', change: answers(live(activities), header('last-modified', 'Thu, 01 Jan 1970 00:00:00 GMT')) },
  { name: 'no date', change: answers(kept(activities), header('last-modified', undefined)) },
  { name: 'another tag of HEAD', change: answers(live(activities), header('etag', '"0000"', 'HEAD')) },
  { name: 'another type of HEAD', change: answers(live(activities), header('content-type', 'text/html', 'HEAD')) },
  { name: 'a file of another release', change: answers(live(activities), header('x-release', '20200101T000000Z-1')) },
  {
    name: 'a manifest with the hash of another file',
    change: manifest(({ files }) => {
      for (const file of files) if (file.path === activities) file.sha256 = '0'.repeat(64)
    }),
  },
  {
    name: 'a manifest without a file',
    change: manifest((document) => ({ ...document, files: document.files.slice(1) })),
  },
  {
    name: 'a manifest that says it is newer',
    change: manifest((document) => ({ ...document, generated: '2099-01-01T00:00:00.000Z' })),
  },
  { name: 'a manifest of a later run', change: manifest((document) => ({ ...document, run: 999 })) },
  { name: 'a manifest that is none', change: texts(live('/feeds/manifest.json'), () => '<html></html>') },
  { name: 'no manifest', change: answers(live('/feeds/manifest.json'), status(404)) },
  {
    name: 'a manifest with addresses of another release',
    change: manifest(({ files }) => {
      for (const file of files)
        file.immutablePath = String(file.immutablePath).replace(/releases\/[^/]+/, 'releases/20200101T000000Z-1')
    }),
  },
  { name: 'the manifest in other white space', change: manifest(() => undefined) },
  { name: 'no chain', change: answers(live('/feeds/releases.json'), status(404)) },
  { name: 'a chain that is a page', change: texts(live('/feeds/releases.json'), () => '<html></html>') },
  { name: 'an empty chain', change: chain(() => ({ releases: [] })) },
  { name: 'a chain without its first record', change: chain(({ releases }) => ({ releases: releases.slice(1) })) },
  {
    name: 'a chain without a record in the middle',
    change: chain(({ releases }) => ({ releases: releases.toSpliced(1, 1) })),
  },
  { name: 'a chain without its newest record', change: chain(({ releases }) => ({ releases: releases.slice(0, -1) })) },
  {
    name: 'the same for readers who have been there',
    state: 'newest',
    change: chain(({ releases }) => ({ releases: releases.slice(0, -1) })),
  },
  { name: 'records in another order', change: chain(({ releases }) => ({ releases: releases.toReversed() })) },
  {
    name: 'another number in the newest record',
    change: chain((document) => {
      last(document).activities = 1_000
    }),
  },
  {
    name: 'another number in an older record',
    change: chain(({ releases }) => {
      Object.assign(releases[0] ?? {}, { activities: 1_000 })
    }),
  },
  {
    name: 'a signature with white space',
    change: chain((document) => {
      last(document).signature = `${last(document).signature} `
    }),
  },
  {
    name: 'no signatures',
    change: chain(({ releases }) => {
      for (const record of releases) delete record.signature
    }),
  },
  {
    name: 'a member twice',
    change: texts(live('/feeds/releases.json'), (text) => text.replace('"run":', '"run":1,"run":')),
  },
  {
    name: 'a chain of another key',
    change: chain((document) => {
      const { privateKey } = generateKeyPairSync('ed25519')
      const { signature: _, ...facts } = last(document)
      last(document).signature = sign(null, Buffer.from(JSON.stringify(facts)), privateKey).toString('base64')
    }),
  },
  {
    name: 'no statement that the set is up to date',
    state: 'newest',
    change: answers(live('/feeds/checked.json'), status(404)),
  },
  {
    name: 'the same for new readers, two days later',
    hoursLater: 48,
    change: answers(live('/feeds/checked.json'), status(404)),
  },
  {
    name: 'a statement with a later date',
    hoursLater: 48,
    change: checked((said) => ({ ...said, checkedAt: '2099-01-01T00:00:00.000Z' })),
  },
  { name: 'a statement of another release', change: checked((said) => ({ ...said, manifestSha256: '0'.repeat(64) })) },
  {
    name: 'a statement with a member twice',
    change: texts(live('/feeds/checked.json'), (text) => text.replace('"key":', '"key":"x","key":')),
  },
  { name: 'a set that nobody publishes any more', hoursLater: 48, change: () => undefined },
  {
    name: 'another feed of a project',
    change: texts(live(feed), (text) => text.replace('The pump runs', 'The pump ruin')),
  },
  { name: 'a feed of a project that is missing', change: answers(live(feed), status(404)) },
  { name: 'another title in a single activity', change: texts(single('xml'), other) },
  { name: 'another title in the JSON of it', change: texts(single('json'), other) },
  {
    name: 'another time in a single activity',
    change: texts(single('xml'), (text) => text.replaceAll(/(-datetime=")\d{4}/g, '$12001')),
  },
  { name: 'a single activity with an element more', change: texts(single('xml'), (text) => `${text}<!-- -->\n`) },
  { name: 'single activities that are missing', change: answers(single('xml'), status(404)) },
  {
    name: 'single activities of another release',
    change: answers(single('xml'), (answer) => {
      header('x-release', '20200101T000000Z-1')(answer)
      texts(single('xml'), other)(answer)
    }),
  },
  {
    name: 'another index of the feeds',
    change: texts(kept('/feeds/projects/index.json'), (text) => text.replace(/[0-9a-f]{64}/, '0'.repeat(64))),
  },
]

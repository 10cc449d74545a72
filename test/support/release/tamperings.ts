import { generateKeyPairSync, sign } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'

/** An answer of the service, before somebody in between changes it. */
export type PassedAnswer = {
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
  /** Readers are given the set before the newest one. */
  readonly isOlderSet?: boolean
  readonly change: (answer: PassedAnswer) => void
}

type Chain = { releases: Record<string, unknown>[] }
type Manifest = { run: number; release: string; generated: string; files: Record<string, unknown>[] }

const live = (path: string) => (url: string) => url === path
const kept = (path: string) => (url: string) => /^\/feeds\/releases\/[^/]+(\/.*)$/.exec(url)?.[1] === path
const activities = '/iati/activities.xml'
const other = (text: string) => text.replace('Second', 'Zecond')

/** Changes what these addresses answer, compressed or not. */
function texts(matches: (url: string) => boolean, change: (text: string) => string, encoding?: 'gzip') {
  return (answer: PassedAnswer) => {
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

const answers =
  (matches: (url: string) => boolean, change: (answer: PassedAnswer) => void) => (answer: PassedAnswer) => {
    if (matches(answer.url)) change(answer)
  }
const status = (code: number) => (answer: PassedAnswer) => {
  answer.status = code
}
const header =
  (name: string, value: string | undefined, method = 'GET') =>
  (answer: PassedAnswer) => {
    if (answer.method === method) answer.headers[name] = value
  }
const feed = '/feeds/projects/1/reports.atom'
const single = (format: string) => (url: string) => /^\/iati\/activities\/[^/]+\.\w+$/.test(url) && url.endsWith(format)

/** The other end of a signature (base64) with which lenient readers decode it to the same bytes. */
const otherEnd = (end: string) => `${{ A: 'B', Q: 'R', g: 'h', w: 'x' }[end.charAt(0)]}==`
const reversed = (record: Record<string, unknown>) => Object.fromEntries(Object.entries(record).reverse())
const strangeKey = () => ({
  publicKey: generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }),
})

/** One byte more at every address of a published file, and one in place of another where it was first published. */
export function tamperingsOf(path: string): readonly Tampering[] {
  const altered = (text: string) =>
    text.replace(/[a-y](?=[^a-z]*$)/, (letter) => String.fromCharCode(letter.charCodeAt(0) + 1))
  return [
    { name: `one character of ${path}`, change: texts((url) => url.endsWith(path), altered) },
    { name: `one byte more at ${path}`, change: texts(live(path), (text) => `${text} `) },
  ]
}

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
  {
    name: 'a manifest with a member twice',
    change: texts(live('/feeds/manifest.json'), (text) => text.replace('"run":', '"run":1,"run":')),
  },
  { name: 'a manifest with a byte order mark', change: texts(live('/feeds/manifest.json'), (text) => `\uFEFF${text}`) },
  {
    name: 'a manifest with a path that leads elsewhere',
    change: manifest(({ files }) => {
      for (const file of files) file.path = `/../elsewhere${String(file.path)}`
    }),
  },
  {
    name: 'a manifest with the address of another host',
    change: manifest(({ files }) => {
      for (const file of files) file.immutablePath = '//other.example/iati/activities.xml'
    }),
  },
  {
    name: 'a manifest with sizes that are texts',
    change: manifest(({ files }) => {
      for (const file of files) file.bytes = String(file.bytes)
    }),
  },
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
    name: 'a signature without its end',
    change: chain((document) => {
      last(document).signature = String(last(document).signature).slice(0, -2)
    }),
  },
  {
    name: 'a signature that decodes to the same with other characters',
    change: chain((document) => {
      last(document).signature = String(last(document).signature).replace(/[AQgw]==$/, otherEnd)
    }),
  },
  {
    name: 'a signature in the alphabet of addresses',
    change: chain((document) => {
      last(document).signature = Buffer.from(String(last(document).signature), 'base64').toString('base64url')
    }),
  },
  {
    name: 'the signature of another record',
    change: chain((document) => {
      last(document).signature = document.releases[0]?.signature
    }),
  },
  {
    name: 'a record with one member more',
    change: chain((document) => {
      last(document).note = 'x'
    }),
  },
  {
    name: 'members in another order',
    change: chain(({ releases }) => ({ releases: releases.map((record) => reversed(record)) })),
  },
  {
    name: 'a character of a record escaped',
    change: texts(live('/feeds/releases.json'), (text) => text.replace('"release":"2', '"release":"\\u0032')),
  },
  {
    name: 'a number of a record with a fraction',
    change: texts(live('/feeds/releases.json'), (text) => text.replace(/"run":(\d+)/, '"run":$1.0')),
  },
  {
    name: 'a chain with a record twice',
    change: chain(({ releases }) => ({ releases: [...releases, releases.at(-1)] })),
  },
  {
    name: 'a chain with a record that nobody signed',
    change: chain(({ releases }) => {
      const { signature: _, key: __, ...facts } = releases.at(-1) ?? {}
      return { releases: [...releases, { ...facts, run: 999 }] }
    }),
  },
  { name: 'a chain without its end', change: texts(live('/feeds/releases.json'), (text) => text.slice(0, -10)) },
  { name: 'a chain with a byte order mark', change: texts(live('/feeds/releases.json'), (text) => `\uFEFF${text}`) },
  {
    name: 'a chain whose first record vouches for another key',
    change: chain(({ releases }) => {
      Object.assign(releases[0] ?? {}, { newKey: strangeKey() })
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
  {
    name: 'a statement with an earlier date',
    change: checked((said) => ({ ...said, checkedAt: '2026-11-21T02:00:00.000Z' })),
  },
  {
    name: 'a statement of another key',
    change: checked((said) => ({ ...said, key: '0'.repeat(32) })),
  },
  {
    name: 'a statement with white space in its signature',
    change: checked((said) => ({ ...said, signature: ` ${said.signature}` })),
  },
  {
    name: 'a statement without a signature',
    change: checked(({ signature: _, ...said }) => said),
  },
  { name: 'a statement that is a page', change: texts(live('/feeds/checked.json'), () => '<html></html>') },
  {
    name: 'a statement with a date that is none',
    change: checked((said) => ({ ...said, checkedAt: 'tomorrow' })),
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
    name: 'an older set, whole and as it was signed, for readers who have seen the newer one',
    state: 'newest',
    isOlderSet: true,
    change: () => undefined,
  },
  {
    name: 'the same for new readers, two days later than it',
    hoursLater: 48,
    isOlderSet: true,
    change: () => undefined,
  },
  {
    name: 'another index of the activities',
    change: texts(
      (url) => url.endsWith('/iati/index.json'),
      (text) => text.replace(/"hash":"./, '"hash":"_'),
    ),
  },
  {
    name: 'a title and its hash in the index of the activities',
    change: (answer) => {
      texts(single('xml'), other)(answer)
      texts(live('/iati/index.json'), (text) => text.replace(/"hash":"./, '"hash":"_'))(answer)
    },
  },
  {
    name: 'a single activity of somebody else',
    change: texts(single('xml'), (text) => text.replaceAll(/-\d</g, '-9<')),
  },
  {
    name: 'another number in the JSON of a single activity',
    change: texts(single('json'), (text) => text.replace(/\d/, '7')),
  },
  { name: 'a single activity without its end', change: texts(single('xml'), (text) => text.slice(0, -30)) },
  { name: 'an error in place of single activities', change: answers(single('json'), status(500)) },
  { name: 'a feed of a project without its end', change: texts(live(feed), (text) => text.slice(0, -20)) },
  { name: 'a feed of a project with another tag', change: answers(live(feed), header('etag', '"0000"')) },
  {
    name: 'a feed of a project of another release',
    change: answers(live(feed), header('x-release', '20200101T000000Z-1')),
  },
  {
    name: 'another index of the feeds',
    change: texts(kept('/feeds/projects/index.json'), (text) => text.replace(/[0-9a-f]{64}/, '0'.repeat(64))),
  },
]

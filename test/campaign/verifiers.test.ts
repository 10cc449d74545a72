import { execFile, spawnSync } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type SeenRelease, verifyPublished } from '../../src/extensions/verify/verify-published.js'
import { createReleaseReader } from '../../src/release/read/release-reader.js'
import { testApi } from '../support/api/api.js'
import { projectRoot } from '../support/documents/how-to.js'
import { testPublisher } from '../support/release/publishing.js'
import { newSigner } from '../support/release/signer.js'
import { type PassedAnswer, type Tampering, tamperings, tamperingsOf } from '../support/release/tamperings.js'
import { insertProjects } from '../support/store/catalogue.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { record } from './support/record.js'

const isMissing = ['python3', 'openssl'].filter((program) => spawnSync(program, ['--help']).error)
if (isMissing.length > 0) console.log(`the verifier in Python is not tried: ${isMissing.join(', ')} not installed`)

const verifier = path.join(projectRoot, 'src/client/verify.py')

describe.skipIf(isMissing.length > 0)('the two verifiers', async () => {
  const { store } = await testDatabase()
  const signer = newSigner()
  let [folder, baseUrl] = ['', '']
  let paths: readonly string[] = []
  let now = new Date()
  let tampering: Tampering | undefined
  let seen: Record<'first' | 'newest', SeenRelease>

  beforeAll(async () => {
    folder = await temporaryFolder()
    await writeFile(path.join(folder, 'key.pem'), signer.publicKey)
    const publisher = await testPublisher(store, { signer })
    await insertProjects(store.db, [{ id: 1 }, { id: 2 }, { id: 3 }])
    await store.db.query(
      `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url)
        select id, id, 'The pump runs', 'Tara', now(), now(), '<p>Water.</p>', 'https://giving.example/' || id from project
        union all select id, 3, 'The pump rests', 'Tara', now(), now(), '<p>Water.</p>', 'https://giving.example/' || id
          from generate_series(1001, 1100) of_archive (id)`,
    )
    const older = path.join(folder, 'older')
    const serving = async (feedsDir: string) =>
      (await testApi(store, { store, releases: createReleaseReader(feedsDir) })).app
    const [newestSet, olderSet] = [await serving(publisher.feedsDir), await serving(older)]
    const server = createServer(async ({ url = '', method = 'GET', headers }, response) => {
      const asked = headers['accept-encoding'] ?? 'identity'
      const app = tampering?.isOlderSet ? olderSet : newestSet
      const answer = await app.inject({ url, method: method as 'GET', headers: { 'accept-encoding': String(asked) } })
      const passing: PassedAnswer = {
        ...{ method, url, status: answer.statusCode, body: answer.rawPayload },
        headers: answer.headers as Record<string, string>,
      }
      const length = passing.body.length
      tampering?.change(passing)
      const { status, body } = passing
      // A length that the body does not have would end the connection, which is no set to verify.
      if (method !== 'HEAD' && body.length !== length) passing.headers['content-length'] = String(body.length)
      const sent = Object.entries(passing.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      )
      response
        .writeHead(status, Object.fromEntries(sent) as Record<string, string>)
        .end(method === 'HEAD' ? undefined : body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address() as { port: number }
    baseUrl = `http://127.0.0.1:${address.port}`
    const states: SeenRelease[] = []
    for (const title of ['First', 'Other', 'Second']) {
      publisher.now = new Date(publisher.now.getTime() + 3_600_000)
      await store.db.query('update project set title = $1 where id = 1', [title])
      await publisher.publish()
      now = publisher.now
      states.push((await ours(undefined)).seen)
      if (title === 'Other') await cp(publisher.feedsDir, older, { recursive: true, verbatimSymlinks: true })
    }
    paths = (await publisher.manifest()).files.map((file) => file.path)
    seen = { first: states[0] as SeenRelease, newest: states[2] as SeenRelease }
    return () => void server.close()
  })

  const ours = (last: SeenRelease | undefined) =>
    verifyPublished({
      ...{ baseUrl, maxAgeHours: 36, maxSeconds: 60, now, last, publicKey: signer.publicKey },
      signal: new AbortController().signal,
    })

  async function inPython(last: SeenRelease | undefined): Promise<string> {
    const state = path.join(folder, 'seen.json')
    if (last) await writeFile(state, JSON.stringify(last))
    const args = [
      baseUrl,
      '--key',
      path.join(folder, 'key.pem'),
      '--now',
      now.toISOString(),
      ...(last ? ['--state', state] : []),
    ]
    return await new Promise((resolve) => {
      execFile('python3', [verifier, ...args], (error, stdout, stderr) => {
        const codes = stdout.split('\n').flatMap((line) => /^(\w+) +(?:\/|http).*: expected/.exec(line)?.[1] ?? [])
        const said = codesOf(codes)
        const code = error === null ? 0 : error.code
        resolve(
          code === 2 ? 'unreadable' : code === 0 && stdout.startsWith('well') ? 'well' : said || `${code} ${stderr}`,
        )
      })
    })
  }

  const codesOf = (codes: readonly string[]) => [...new Set(codes)].sort().join(' ')
  const verdicts: string[] = []

  /** What both say of a set that was tampered with: twice the same, and not that it is well. */
  async function verdictOn(one: Tampering): Promise<readonly [name: string, ours: string, inPython: string]> {
    tampering = one
    const before = now
    now = new Date(now.getTime() + (one.hoursLater ?? 0) * 3_600_000)
    try {
      const last = one.state && seen[one.state]
      const verdict = await ours(last).then(
        ({ findings }) => codesOf(findings.map(({ code }) => code)) || 'well',
        () => 'unreadable',
      )
      return [one.name, verdict, await inPython(last)]
    } finally {
      tampering = undefined
      now = before
    }
  }

  it.each(tamperings)('say the same of $name', async (one) => {
    const [, verdict, second] = await verdictOn(one)
    expect(verdict).not.toBe('well')
    expect(second).toBe(verdict)
    verdicts.push(verdict)
  })

  it('say the same of a character and a byte more in each file that the manifest names', async () => {
    expect(paths).toEqual(
      expect.arrayContaining(['/feeds/opml.xml', '/feeds/reports/archive-1.atom', '/iati/index.json']),
    )
    for (const one of paths.flatMap(tamperingsOf)) {
      const [name, verdict, second] = await verdictOn(one)
      expect([name, verdict]).toEqual([name, expect.stringMatching(/\btampered\b/)])
      expect([name, second]).toEqual([name, verdict])
      verdicts.push(verdict)
    }
  })

  it('are apart: the second one is 200 lines of Python that import nothing but its standard library', async () => {
    const text = await readFile(verifier, 'utf8')
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(200)
    const imported = [...text.matchAll(/^import (.*)$/gm)].flatMap(([, names = '']) => names.split(', '))
    const own =
      'import sys; print([name for name in sys.argv[1:] if name.split(".")[0] not in sys.stdlib_module_names])'
    expect(spawnSync('python3', ['-c', own, ...imported], { encoding: 'utf8' }).stdout).toBe('[]\n')
  })

  it('say that the set is well as it was published, also to who has seen an older one', async () => {
    for (const last of [undefined, seen.first, seen.newest]) {
      expect([(await ours(last)).findings, await inPython(last)]).toEqual([[], 'well'])
    }
    const counts = [...new Set(verdicts)].sort().map((one) => `${one} ${verdicts.filter((of) => of === one).length}`)
    const outcome = `the same verdict of both on ${verdicts.length}, none well: ${counts.join(', ')}`
    record({ name: 'a signed set, tampered with', engine: '-', tried: verdicts.length, outcome })
  })
})

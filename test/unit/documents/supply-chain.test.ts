import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readProjectFile } from '../../support/documents/markdown-table.js'

type Locked = {
  readonly version: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
}

const locked = Object.entries(
  (JSON.parse(readProjectFile('package-lock.json')) as { readonly packages: Record<string, Locked> }).packages,
)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => ({ name: path.replace(/^.*node_modules\//, ''), ...entry }))
const inProduction = locked.filter(({ dev }) => !dev)

const { peerDependencies } = JSON.parse(readProjectFile('package.json')) as { peerDependencies: object }
/** What only its users install, with all that it needs; the image has it. */
const ofUsers = new Set(Object.keys(peerDependencies))
for (const name of ofUsers) {
  for (const { dependencies } of locked.filter((one) => one.name === name)) {
    for (const needed of Object.keys(dependencies ?? {})) ofUsers.add(needed)
  }
}
const shipped = locked.filter(({ name, dev }) => !dev || ofUsers.has(name))

const allowedLicences = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
])

/** Packages whose package.json tells the licence in the old way, or in a file alone; all are MIT. */
const licenceInFile: ReadonlySet<string> = new Set(['buildcheck', 'cpu-features', 'png-js', 'ssh2'])

// More of them is a decision: each is code that others can change. SFTP brings 7 (docs/adr/0027-sftp.md), receipts as PDF 19
// (docs/adr/0028-receipts-as-pdf.md).
const mostInProduction = 220

type Workflow = {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<
      string,
      { readonly permissions?: Readonly<Record<string, string>>; readonly steps: readonly { readonly run?: string }[] }
    >
  >
}

const workflows = new URL('../../../.github/workflows/', import.meta.url)
const textsOfWorkflows = readdirSync(workflows).map((name) => readFileSync(new URL(name, workflows), 'utf8'))

describe('the workflows', () => {
  it('name each action by the hash of its commit, which nobody can move', () => {
    const used = textsOfWorkflows.flatMap((text) => [...text.matchAll(/uses: *(.*)/g)])
    expect(used.length).toBeGreaterThan(0)
    const pinned = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
    expect(used.map(([, action = '']) => action).filter((action) => !pinned.test(action))).toEqual([])
  })

  it('may read the sources, and more in jobs of a release alone, where no request of others leads', () => {
    const writing = textsOfWorkflows.flatMap((text) => {
      const { on, permissions, jobs } = parse(text) as Workflow
      expect(permissions).toEqual({ contents: 'read' })
      const more = Object.entries(jobs).flatMap(([name, job]) =>
        job.permissions ? [[name, job.permissions] as const] : [],
      )
      if (more.length > 0) expect(on).toEqual({ push: { tags: ['v*'] } })
      return more
    })
    expect(Object.fromEntries(writing)).toEqual({
      image: { contents: 'read', packages: 'write', 'id-token': 'write' },
      publish: { contents: 'write', 'id-token': 'write' },
      documents: { pages: 'write', 'id-token': 'write' },
    })
  })

  it('put no expression into a script, which a name of a branch could continue', () => {
    const scripts = textsOfWorkflows.flatMap((text) =>
      Object.values((parse(text) as Workflow).jobs).flatMap(({ steps }) => steps.map(({ run = '' }) => run)),
    )
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([])
  })
})

describe('package-lock.json', () => {
  it('has a SHA-512 of each package, and no place but the registry', () => {
    expect(
      locked.filter(
        ({ resolved = 'https://registry.npmjs.org/' }) => !resolved.startsWith('https://registry.npmjs.org/'),
      ),
    ).toEqual([])
    // npm leaves it out, without a word, for builds for other platforms that its registry does not have.
    const unproven = locked.filter(({ integrity = '' }) => !/^sha512-[\w+/]{86}==$/.test(integrity))
    expect(unproven.map(({ name }) => name)).toEqual([])
  })

  it('names the packages with an install script, each allowed or refused', () => {
    const { allowScripts } = JSON.parse(readProjectFile('package.json')) as { allowScripts: Record<string, boolean> }
    expect(Object.keys(allowScripts).sort()).toEqual(
      locked
        .filter(({ hasInstallScript }) => hasInstallScript)
        .map(({ name }) => name)
        .sort(),
    )
  })

  it('has only packages in production and in the image whose licence allows any use, and not too many', () => {
    expect(
      shipped.filter(
        ({ name, license = 'none' }) =>
          !allowedLicences.has(licenceInFile.has(name) ? 'MIT' : license) &&
          !license.split(' AND ').every((one) => allowedLicences.has(one)),
      ),
    ).toEqual([])
    expect(inProduction.length).toBeLessThanOrEqual(mostInProduction)
  })
})

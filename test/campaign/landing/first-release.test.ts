import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transpileProgram } from '../../support/commands/cli.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { realRecords } from '../../support/values/borrowed-files.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'
import { record } from '../support/record.js'

const run = promisify(execFile)
const project = path.resolve(import.meta.dirname, '../../..')
const terminal = path.join(project, 'test/support/commands/at-terminal.py')

/** The goal: who knows nothing of the service publishes for real within so many commands and words. */
const most = { commands: 12, words: 3000 }

/** What a person reads on the way, and in it the blocks whose commands they type, from a machine without Node.js on. */
const pages = ['docs/tutorial/try.md', 'README.md', 'docs/how-to/own-platform.md']
const packages = blockOf('docs/tutorial/try.md', 'sh')
const demo = (blockOf('README.md', 'sh')[0] ?? '').split(' && ')
const release = blockOf('README.md', 'sh release')

/** The lines of a page's first block of this kind, without what a comment says. */
function blockOf(page: string, kind: string): string[] {
  const [, block = ''] = readProjectFile(page).split(`\`\`\`${kind}\n`)
  const [text = ''] = block.split('```')
  return text.split('\n').flatMap((line) => line.replace(/ +#.*/, '') || [])
}

/** The files that the page about a platform of one's own shows, by their names. */
function filesOfPage(): ReadonlyMap<string, string> {
  const text = readProjectFile('docs/how-to/own-platform.md')
  return new Map(
    [...text.matchAll(/^cat > (\S+) <<'CSV'\n(.*?)^CSV$/gms)].map(([, name = '', rows = '']) => [name, rows]),
  )
}

const answers: readonly (readonly [prompt: string, answer: string])[] = [
  ['Who publishes? ', 'Giving Lakes'],
  ['Its IATI identifier', 'GB-CHC-1164883'],
  ['Its type', '22'],
  ['Its currency', ''],
  ['Language', ''],
  ['Public address', ''],
  ['Platform to mirror', ''],
  ['Who charges donors', ''],
  ['Sender of receipts', ''],
  ['When to publish', ''],
  ['May activities say this', 'yes'],
]

const samples = realRecords('a first release of records of a real platform')
const platforms = [
  { files: 'the five CSV files of its page', activities: 2, told: 'GB-CHC-1164883-101' },
  ...(samples ? [{ files: 'records of a real platform', activities: 50, told: 'GB-CHC-1164883-2' }] : []),
]

const missing = spawnSync('python3', ['-c', 'import pty']).status === 0 ? undefined : 'python3 is not installed'
if (missing) console.warn(`skipped: a first release at a terminal: ${missing}`)

describe.skipIf(missing).each(platforms)('from a bare machine to a first real release, $files', (platform) => {
  let folder: string
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, PORT: '0', OPS_PORT: '0', TERM: 'xterm' }
  const clusterOf = async () => {
    const text = await readFile(path.join(folder, 'data/postgres-launcher/server.json'), 'utf8')
    return (JSON.parse(text) as { clusterDir: string }).clusterDir
  }

  // What is left of `npm ci`, which is typed but not run: whoever runs this test has run it.
  beforeAll(async () => {
    const program = await transpileProgram()
    folder = await temporaryFolder()
    await copyFile(path.join(project, 'package.json'), path.join(folder, 'package.json'))
    await symlink(program, path.join(folder, 'dist'))
    for (const [name, rows] of filesOfPage()) await writeFile(path.join(folder, name), rows)
    if (samples) await copyFile(samples, path.join(folder, 'projects.xml'))
  })
  afterAll(async () => {
    await rm(await clusterOf(), { recursive: true, force: true })
  })

  /** Runs a command that goes on until Ctrl-C; returns what it printed until its last publication. */
  async function served(line: string, wanted: RegExp): Promise<string> {
    const child = spawn('bash', ['-c', `exec ${line}`], { cwd: folder, env, detached: true })
    let said = ''
    const ready = new Promise<void>((resolve, reject) => {
      const listen = (text: Buffer) => {
        said += text
        if (wanted.test(said)) resolve()
      }
      child.stdout.on('data', listen)
      child.stderr.on('data', listen)
      child.once('close', () => reject(new Error(`${line} ended:\n${said}`)))
    })
    await ready
    const ended = once(child, 'close')
    process.kill(-(child.pid ?? 0), 'SIGINT')
    await ended
    return said
  }

  it(`takes at most ${most.commands} commands and ${most.words} words`, async () => {
    const [installs, ...more] = demo
    expect([installs, more]).toEqual(['npm ci', ['npm start']])
    await served('npm start', /ready: http/)
    let shown = ''
    const typed = [...packages, ...demo]
    for (const line of release) {
      // Records in the wire format are one file.
      const given = platform.activities === 2 ? line : line.replace(/(?<=import ).*/, 'projects.xml')
      typed.push(given)
      if (line.endsWith(' init')) {
        const asked = JSON.stringify(answers)
        // Its exit code is 1: the demo's data must go first, as it says.
        const asking = run('python3', [terminal, asked, ...given.split(' ')], { cwd: folder, env })
        shown = await asking.then(
          () => 'nothing is left to do',
          ({ stdout }: { stdout: string }) => stdout,
        )
        expect(shown).toContain('giving reset-demo')
      } else if (line === 'npm start') expect(await served(line, /ready: http/)).toContain('published')
      else await run('bash', ['-c', given], { cwd: folder, env })
    }

    const file = path.join(folder, 'data/feeds/current/iati/activities.xml')
    const published = await readFile(file, 'utf8')
    expect(published.match(/<iati-activity /g)).toHaveLength(platform.activities)
    expect(published).toContain(`<iati-identifier>${platform.told}</iati-identifier>`)
    expect(published).not.toContain('XE-EXAMPLE')
    await run('bash', ['-c', `npm run giving -- validate --strict ${file}`], { cwd: folder, env })

    const words = pages.reduce((sum, page) => sum + readProjectFile(page).split(/\s+/).filter(Boolean).length, 0)
    // The terminal writes a line again with each sign that is typed.
    const questions = new Set(stripVTControlCharacters(shown).match(/\b\d+\/\d+ (?=\w)/g)).size
    const decided = answers.filter(([, answer]) => answer !== '').length
    const told = `${typed.length} commands, ${words} words, ${questions} questions of which ${decided} have no default`
    console.log(`${[told, ...typed, ...pages].join('\n  ')}\n`)
    record({ name: `a first real release: ${platform.files}`, engine: 'PostgreSQL', tried: 1, outcome: told })
    expect(typed.length).toBeLessThanOrEqual(most.commands)
    expect(words).toBeLessThanOrEqual(most.words)
    expect(questions).toBe(answers.length)
  })
})

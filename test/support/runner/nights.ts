import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { projectRoot } from '../documents/how-to.js'
import { readProjectFile, readTable } from '../documents/markdown-table.js'

export const nightsDocument = 'docs/explanation/measurements.md'

const heading = '| Step | Last run | Version | Commit | Machine | Outcome | Minutes |'
// More would be a sentence that nobody reads.
const partsOfRow = 12
const partsHeading = '| Parts of the campaign, with their minutes | Last run | Version | Commit | Scale | Outcome |'

/** The steps of `.ci/nightly`, in their order. */
export function nightlySteps(): string[] {
  const [, steps = ''] = /steps=\((\w[^)]*)\)/.exec(readProjectFile('.ci/nightly')) ?? []
  return steps.split(' ')
}

/**
 * The document with what the page of a night says, steps and files of the campaign, and with a word at each figure that is older than the minor release `version`
 * belongs to. Steps that the night left out keep their rows.
 */
export function withNight(document: string, version: string, page = ''): string {
  const [, day = ''] = /^# Night of (\S+)/.exec(page) ?? []
  const [, commit = '', ran = '', machine = ''] =
    /^Commit (\S+) of version (\S+), (.*?)(?: when it began)?\.$/m.exec(page) ?? []
  const now = page === '' ? [] : readTable(page, '| Step |')
  const before = readTable(document, heading)
  const rows = nightlySteps().map((step) => {
    const [, , outcome, minutes] = now.find(([name]) => name === step) ?? []
    if (outcome !== undefined) return [step, day, ran, commit, machine, outcome, minutes ?? '']
    const [, last = 'not yet', older = '', ...rest] = before.find(([name]) => name === step) ?? []
    return [step, last, older.replace(/, older .*/, ''), ...(rest.length > 0 ? rest : ['', '', '', ''])]
  })
  const minor = minorOf(version)
  const lines = rows.map(([step = '', last = '', of = '', ...rest]) => {
    return `| ${[step, last, marked(of, minor), ...rest].join(' | ')} |`
  })
  const parts = partRows(document, page, [day, ran, commit]).map(([names = '', last = '', of = '', ...rest]) => {
    return `| ${[names, last, marked(of, minor), ...rest].join(' | ')} |`
  })
  return `${document.slice(0, document.indexOf(heading))}${heading}
|---|---|---|---|---|---|---:|
${lines.join('\n')}

${[partsHeading, '|---|---|---|---|---:|---|', ...parts].join('\n')}
`
}

/** The last run of each file of the campaign, the newest first; those that ran alike share a row. */
function partRows(document: string, page: string, ran: readonly string[]): string[][] {
  const last = new Map<string, { minutes: string; like: readonly string[] }>()
  for (const [names = '', day = '', of = '', ...like] of readTable(document, partsHeading)) {
    for (const [, name = '', minutes = ''] of names.matchAll(/(\S+) ([\d.]+)/g)) {
      last.set(name, { minutes, like: [day, of.replace(/, older .*/, ''), ...like] })
    }
  }
  for (const [name = '', outcome = '', minutes = '', scale = ''] of page.includes('| Part |')
    ? readTable(page, '| Part |')
    : []) {
    last.set(name, { minutes, like: [...ran, scale, outcome] })
  }
  const rows = new Map<string, string[]>()
  for (const [name, { minutes, like }] of [...last].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const key = like.join(' | ')
    rows.set(key, [...(rows.get(key) ?? []), `${name} ${minutes}`])
  }
  const lines = [...rows].sort(([a], [b]) => (a < b ? 1 : -1))
  return lines.flatMap(([like, names]) => {
    const starts = names.flatMap((_, at) => (at % partsOfRow === 0 ? [at] : []))
    return starts.map((at) => [names.slice(at, at + partsOfRow).join(', '), ...like.split(' | ')])
  })
}

function marked(of: string, minor: string): string {
  return of !== '' && minorOf(of) !== minor ? `${of}, older than ${minor}` : of
}

function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}

// `.ci/nightly` runs it with its page, and `npm version` without one.
if (process.argv[1]?.endsWith('nights.ts')) {
  const [, , page] = process.argv
  const { version } = JSON.parse(readProjectFile('package.json')) as { version: string }
  const document = withNight(readProjectFile(nightsDocument), version, page && readFileSync(page, 'utf8'))
  writeFileSync(path.join(projectRoot, nightsDocument), document)
}

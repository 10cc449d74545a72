import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeList } from '../../../../src/iati/standard/index.js'
import { validationNotices } from '../../../../src/iati/validation/index.js'
import { readProjectFile, readTable } from '../../../support/documents/markdown-table.js'
import { codeRows } from '../../../support/iati/mutants/codes.js'
import { ruleMutants } from '../../../support/iati/mutants/index.js'
import {
  officialFileRuleIds,
  officialRuleIds,
  readOfficialRuleset,
  rulesOf,
} from '../../../support/iati/official-rules.js'
import { officialStandard } from '../../../support/values/borrowed-files.js'

/** What is compared in docs/reference/notices.md: a rule, its severity there, our notice, its severity in other files. */
const compared = readTable(readProjectFile('docs/reference/notices.md'), '| Official rule |')

const ours = Object.entries(validationNotices)
const checked = new Set(ours.flatMap(([, { official }]) => official))

describe('every rule of the official validator', () => {
  it('has a check that names it', () => {
    expect([...officialRuleIds, ...officialFileRuleIds].filter((id) => !checked.has(id))).toEqual([])
  })

  it('is broken by at least one mutant', () => {
    const broken = new Set(ruleMutants.map(({ breaks }) => breaks))
    expect(officialRuleIds.filter((id) => !broken.has(id))).toEqual([])
  })

  it('is known by an id that exists', () => {
    const known = new Set([...officialRuleIds, ...officialFileRuleIds, '9.1.1-9.132.1'])
    expect([...checked].filter((id) => !known.has(id))).toEqual([])
  })
})

describe('the severity of a notice in other files', () => {
  it('is listed for every official rule', () => {
    const rows = ours.flatMap(([code, { severity, severityElsewhere = severity, elsewhereOnlyOn, official: ids }]) =>
      ids.flatMap((id) => [
        [id, code, elsewhereOnlyOn === undefined ? severityElsewhere : severity],
        ...(elsewhereOnlyOn === undefined ? [] : [[`${id} on ${elsewhereOnlyOn}`, code, severityElsewhere]]),
      ]),
    )
    const listed = compared.map(([rule, , code, severity]) => [rule, code, severity])
    expect(listed, `the rows must be:\n${rows.map((row) => row.join(' | ')).join('\n')}\n`).toEqual(rows)
  })

  it('is that of the official validator, but where the list of differences has the reason', () => {
    // The official validator has a severity above an error and one below all of ours.
    const same = new Map([
      ['critical', 'error'],
      ['advisory', 'info'],
      ['none', 'warning'],
    ])
    const different = compared.filter(([, theirs = '', , mine]) => (same.get(theirs) ?? theirs) !== mine)
    expect(different).toEqual([])
    expect(compared.filter(([, theirs]) => theirs === 'none').map(([rule]) => rule)).toEqual([
      '9.1.1-9.132.1 on xml:lang',
    ])
  })

  it('is an error only by an official rule or a text of a standard', () => {
    const baseless = ours.filter(
      ([, { severity, severityElsewhere = severity, official: ids, standard }]) =>
        severityElsewhere === 'error' && ids.length === 0 && standard === undefined,
    )
    expect(baseless.map(([code]) => code)).toEqual([])
  })
})

const official = officialStandard('comparing the list of rules and code lists with the official files')

describe.skipIf(!official)('the official files', () => {
  const rules = official ? rulesOf(readOfficialRuleset(official)) : new Map<string, string>()

  it('hold the rules of our list, and no other', () => {
    expect([...rules.keys()].sort()).toEqual([...officialRuleIds].sort())
  })

  it('have the severities that docs/reference/notices.md compares ours with', () => {
    const listed = compared.filter(([rule = '']) => rules.has(rule)).map(([rule, theirs]) => [rule, theirs])
    expect(listed).toEqual(listed.map(([rule = '']) => [rule, rules.get(rule)]))
    expect(new Set(listed.map(([rule]) => rule))).toEqual(new Set(rules.keys()))
    const codes = readFileSync(
      join(official ?? '', 'codelists', 'codelist_rules-2.03.official-2024-03-20.json'),
      'utf8',
    )
    expect(new Set(codes.match(/"severity":"\w+"/g))).toEqual(new Set(['"severity":"error"']))
  })

  it('hold the rows of our mapping, with the same conditions', () => {
    const read = (name: string): unknown => JSON.parse(readFileSync(join(official ?? '', 'codelists', name), 'utf8'))
    const rows = read('mapping.json') as { path: string; codelist: string; condition?: string }[]
    const theirs = rows.map(({ path, codelist, condition }) => `${path} ${codelist} ${condition ?? ''}`).sort()
    const same = codeRows.map(({ path, attribute, codelist, condition }) => {
      const short = path === '*' ? '/' : path.replace(/^\/iati-(?:activities|organisations)(?=\/)/, '')
      const at = attribute === null ? 'text()' : `@${attribute}`
      const where = condition
        ? `@${condition.attribute} = '${condition.equals}'${condition.orAbsent ? ` or not(@${condition.attribute})` : ''}`
        : ''
      return `/${short}${short.endsWith('/') ? '' : '/'}${at} ${codelist} ${where}`
    })
    expect(same.sort()).toEqual(theirs)
  })

  it('allow every code that we allow, but two that are newer than the list of the official validator', () => {
    const allowed = new Map<string, Set<string>>()
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      const { codelist, allowedCodes } = node as { codelist?: string; allowedCodes?: (string | number)[] }
      if (codelist !== undefined && allowedCodes) {
        const codes = allowed.get(codelist) ?? new Set()
        for (const code of allowedCodes) codes.add(String(code))
        allowed.set(codelist, codes)
      } else for (const inner of Object.values(node)) visit(inner)
    }
    visit(
      JSON.parse(
        readFileSync(join(official ?? '', 'codelists', 'codelist_rules-2.03.official-2024-03-20.json'), 'utf8'),
      ),
    )
    const newer: string[] = []
    const unknown: string[] = []
    for (const [name, codes] of allowed) {
      const list = codeList(name)
      for (const [code, { active }] of list.codes) if (active && !codes.has(code)) newer.push(`${name} ${code}`)
      for (const code of codes) if (!list.codes.has(code)) unknown.push(`${name} ${code}`)
    }
    expect(newer.sort()).toEqual(['OtherIdentifierType A4', 'TagVocabulary 5'])
    expect(unknown).toEqual([])
  })
})

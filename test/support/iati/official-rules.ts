import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The ids of the official ruleset for 2.03 (IATI-Rulesets, commit a88f835ba9a85eefb1384484eb20df10a007a31a); a test
 * compares them with the file when it is there.
 */
export const officialRuleIds: readonly string[] = `
1.1.3 1.1.21 1.3.1 1.3.13 1.4.1 1.5.1 1.6.1 1.7.1 1.8.1 1.8.13 1.9.1 1.10.1 1.10.13 1.11.1 1.11.13 1.12.1 1.12.13
1.14.1 1.14.8 1.14.13 1.15.1 1.15.13 1.16.1 1.17.1 1.18.1 1.18.8 1.18.13 2.1.1 2.1.2 2.1.4 2.2.1 3.1.1 3.1.2 3.1.4
3.4.1 3.4.2 3.4.4 3.6.2 3.7.1 3.7.2 4.1.1 4.3.1 4.4.1 4.5.1 6.2.2 6.6.2 6.7.2 6.8.1 6.9.1 6.9.2 6.10.1 6.11.1 6.13.1
6.14.1 7.5.3 7.8.1 7.8.2 7.9.1 7.9.2 7.9.4 8.6.1 8.6.3 8.8.1 8.8.2 8.8.3 8.9.1 8.9.2 8.9.3 8.10.1 8.10.2 8.10.3 8.11.1
11.1.1 11.1.2 11.1.3 11.1.4 11.1.5 11.2.1 11.2.2 11.3.1 11.4.1 12.1.1 12.2.1 12.3.1 102.1.1 107.1.1 107.1.2 107.2.1
107.2.2`
  .trim()
  .split(/\s+/)

/** What the official validator checks beside the ruleset: the file, the schema, identifiers in the file, advisories. */
export const officialFileRuleIds: readonly string[] =
  '0.1.1 0.3.1 1.1.2 1000.0.1 1000.0.2 1000.0.3 1000.0.4 1000.0.5 1000.0.6'.split(' ')

/** One check of the official ruleset: the kind of rule and its parameters. */
export type OfficialCase = {
  readonly ruleInfo?: { readonly id: string; readonly severity: string }
  readonly do?: Readonly<Record<string, { readonly cases: readonly OfficialCase[] }>>
  readonly [parameter: string]: unknown
}

/** The ruleset as published: kinds of rules, each with its cases, by the path of the elements they look at. */
export type OfficialRuleset = Readonly<
  Record<string, Readonly<Record<string, { readonly cases: readonly OfficialCase[] }>>>
>

/** The official ruleset in a directory of official files. */
export function readOfficialRuleset(directory: string): OfficialRuleset {
  return JSON.parse(readFileSync(join(directory, 'rulesets', 'standard-2.03.json'), 'utf8')) as OfficialRuleset
}

/** Every rule of the ruleset with its severity; a rule may be there for several paths. */
export function rulesOf(ruleset: OfficialRuleset): Map<string, string> {
  const found = new Map<string, string>()
  const visit = (kinds: Readonly<Record<string, { readonly cases: readonly OfficialCase[] }>>): void => {
    for (const { cases } of Object.values(kinds)) {
      for (const one of cases) {
        if (one.ruleInfo) found.set(one.ruleInfo.id, one.ruleInfo.severity)
        if (one.do) visit(one.do)
      }
    }
  }
  for (const kinds of Object.values(ruleset)) visit(kinds)
  return found
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { XmlDocument, type XmlNode, XmlXPath } from 'libxml2-wasm'
import type { Element } from '../../../src/kernel/xml/element.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { type OfficialCase, type OfficialRuleset, readOfficialRuleset } from './official-rules.js'

/**
 * Judges records by the official ruleset itself: the XPath of the published file, run by libxml2, with the meaning that
 * the official validator gives to each kind of rule. One difference: where an XPath selects nothing, that counts as
 * false (the official tool takes an empty list for true and so never sees some violations).
 */
export function officialJudge(directory: string, now: string): (record: Element) => Set<string> {
  const ruleset = readOfficialRuleset(directory)
  const agencies = JSON.parse(readFileSync(join(directory, 'codelists', 'org-id-prefixes.json'), 'utf8')) as {
    code: string
    confirmed: boolean
  }[]
  const prefixes = new Set(agencies.filter(({ confirmed }) => confirmed).map(({ code }) => code))
  return (record) => {
    const root = record.name === 'iati-activity' ? 'iati-activities' : 'iati-organisations'
    const document = XmlDocument.fromString(
      `<${root} version="2.03" xmlns:own="https://own.example/">${writeElement(record)}</${root}>`,
    )
    try {
      return judge(document, ruleset, { now: Date.parse(now), prefixes })
    } finally {
      document.dispose()
    }
  }
}

// Compiled once for the whole run: a few hundred paths, which stay in WebAssembly memory until the process ends.
const compiled = new Map<string, XmlXPath>()

function xpath(text: string): XmlXPath {
  const known = compiled.get(text) ?? XmlXPath.compile(text)
  compiled.set(text, known)
  return known
}

type World = { readonly now: number; readonly prefixes: ReadonlySet<string> }

function judge(document: XmlDocument, ruleset: OfficialRuleset, world: World): Set<string> {
  const violated = new Set<string>()
  for (const [paths, kinds] of Object.entries(ruleset)) {
    for (const element of document.find(xpath(paths))) {
      for (const [kind, { cases }] of Object.entries(kinds)) {
        for (const one of cases.flatMap((whole) =>
          kind === 'loop' ? looped(element, whole) : [[kind, whole] as const],
        )) {
          if (!holds(element, ...one, world)) violated.add(one[1].ruleInfo?.id ?? 'unnamed')
        }
      }
    }
  }
  return violated
}

/** The cases of a loop, one for every different value that it runs over. */
function looped(element: XmlNode, whole: OfficialCase): (readonly [kind: string, one: OfficialCase])[] {
  const values = new Set(element.find(xpath(String(whole.foreach))).map(({ content }) => content))
  return [...values].flatMap((value) =>
    Object.entries(whole.do ?? {}).flatMap(([kind, { cases }]) =>
      cases.map((one) => [kind, JSON.parse(JSON.stringify(one).replaceAll('$1', value)) as OfficialCase] as const),
    ),
  )
}

const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

function isTrue(element: XmlNode, condition: unknown): boolean {
  return element.eval(xpath(`boolean(${String(condition)})`)) === true
}

/** The instant of the first date that an XPath selects; undefined when there is none to compare. */
function instant(element: XmlNode, path: unknown, { now }: World): number | undefined {
  if (path === 'NOW') return now
  const text = element.find(xpath(String(path)))[0]?.content
  const time = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

const dayMilliseconds = 86_400_000

function holds(element: XmlNode, kind: string, one: OfficialCase, world: World): boolean {
  if (one.condition !== undefined && !isTrue(element, one.condition)) return true
  const texts = list(one.paths).flatMap((path) => element.find(xpath(path)).map(({ content }) => content))
  const at = (name: string) => instant(element, one[name], world)
  const ordered = (first: number | undefined, then: number | undefined) =>
    first === undefined || then === undefined || first <= then
  switch (kind) {
    case 'no_more_than_one':
      return texts.length <= 1
    case 'atleast_one':
      return texts.length >= 1
    case 'unique':
      return new Set(texts).size === texts.length
    case 'no_spaces':
      return texts.every((text) => text === text.trim())
    case 'regex_matches':
      return texts.every((text) => text === '' || new RegExp(String(one.regex)).test(text))
    case 'range':
      return texts.every((text) => Number(one.min) <= Number(text) && Number(text) <= Number(one.max))
    case 'strict_sum':
      return Number(texts.reduce((sum, text) => sum + Number(text), 0).toFixed(4)) === Number(one.sum)
    case 'if_then':
      return !isTrue(element, one.if) || isTrue(element, one.then)
    case 'date_now':
      return ordered(at('date'), world.now)
    case 'date_order':
      return ordered(at('less'), at('more'))
    case 'between_dates':
      return ordered(at('start'), at('date')) && ordered(at('date'), at('end'))
    case 'time_limit': {
      const [start, end] = [at('start'), at('end')]
      return start === undefined || end === undefined || Math.trunc((end - start) / dayMilliseconds) <= 365
    }
    case 'startswith':
      return texts.every((text) => startsWell(element, one, text, world))
    case 'one_or_all':
      return oneOrAll(element, one)
    default:
      throw new Error(`the official ruleset has a kind of rule that is not understood: ${kind}`)
  }
}

function startsWell(element: XmlNode, one: OfficialCase, text: string, { prefixes }: World): boolean {
  const starts = list(one.prefix)
  if (starts.includes('ORG-ID-PREFIX')) return prefixes.has(text.split('-').slice(0, 2).join('-'))
  return starts
    .flatMap((path) => element.find(xpath(path)))
    .some(({ content }) => text.startsWith(content + String(one.separator ?? '')))
}

function oneOrAll(element: XmlNode, one: OfficialCase): boolean {
  if (element.find(xpath(String(one.one))).length > 0) return true
  switch (one.all) {
    case 'lang':
      return isTrue(element, 'not(.//narrative[not(@xml:lang)])')
    case 'sector':
      return isTrue(element, 'not(transaction[not(sector)])')
    case 'currency':
      return isTrue(
        element,
        'not(.//value[not(@currency)] | .//forecast[not(@currency)] | .//loan-status[not(@currency)])',
      )
    default:
      throw new Error(`the official ruleset asks for all of something that is not understood: ${String(one.all)}`)
  }
}

import type { Attributes, Element } from '../../kernel/xml/element.js'
import { fileNotices } from './file-notices.js'
import { type Findings, quoted } from './findings.js'

/** Reports every prefix in the element that neither it, nor its ancestors, nor the root of the file declares. */
export function checkPrefixes(element: Element, rootAttributes: Attributes, findings: Findings): void {
  const report = (of: Element, name: string, attribute?: string): void => {
    const prefix = quoted(name.slice(0, name.indexOf(':')))
    const detail = `expected a declaration of the prefix ${prefix}, got none`
    findings.add({ code: 'prefix-unbound', ...fileNotices['prefix-unbound'] }, of, detail, attribute)
  }
  const visit = (of: Element, outer: ReadonlySet<string>): void => {
    const bound = withDeclarations(outer, of.attributes)
    if (isUnbound(of.name, bound)) report(of, of.name)
    for (const name in of.attributes) if (isUnbound(name, bound)) report(of, name, name)
    for (const child of of.children) visit(child, bound)
  }
  visit(element, withDeclarations(new Set(['xml', 'xmlns']), rootAttributes))
}

function isUnbound(name: string, bound: ReadonlySet<string>): boolean {
  const colon = name.indexOf(':')
  return colon > 0 && !bound.has(name.slice(0, colon))
}

function withDeclarations(outer: ReadonlySet<string>, attributes: Attributes): ReadonlySet<string> {
  const declared = Object.keys(attributes).filter((name) => name.startsWith('xmlns:'))
  return declared.length === 0 ? outer : new Set([...outer, ...declared.map((name) => name.slice('xmlns:'.length))])
}

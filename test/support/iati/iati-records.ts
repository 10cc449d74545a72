import { type Attributes, type Element, element, textElement } from '../../../src/kernel/xml/element.js'

/** A valid activity that uses most of what we publish; `with...` below change it. */
export function anActivity(): Element {
  return element(
    'iati-activity',
    { 'xml:lang': 'en', 'default-currency': 'EUR', humanitarian: '0', 'last-updated-datetime': '2026-03-01T08:00:00Z' },
    [
      textElement('iati-identifier', 'XM-DAC-47045-7'),
      element('reporting-org', { ref: 'XM-DAC-47045', type: '21' }, [narrative('A Platform')]),
      element('title', {}, [narrative('Wells')]),
      element('description', { type: '1' }, [narrative('Wells for a village.')]),
      element('participating-org', { role: '4', type: '24' }, [narrative('A Partner')]),
      element('other-identifier', { ref: '7', type: 'A1' }, [element('owner-org', {}, [narrative('A Platform')])]),
      element('activity-status', { code: '2' }),
      element('activity-date', { type: '1', 'iso-date': '2025-01-01' }),
      element('activity-date', { type: '2', 'iso-date': '2025-02-01' }),
      element('activity-date', { type: '3', 'iso-date': '2027-01-01' }),
      element('contact-info', { type: '1' }, [textElement('website', 'https://giving.example/7')]),
      element('recipient-country', { code: 'KE', percentage: '60' }),
      element('recipient-country', { code: 'UG', percentage: '40' }),
      element('location', {}, [
        element('point', { srsName: 'http://www.opengis.net/def/crs/EPSG/0/4326' }, [textElement('pos', '-0.1 34.7')]),
      ]),
      element('sector', { vocabulary: '1', code: '14031', percentage: '100' }),
      element('sector', { vocabulary: '99', code: 'water', 'vocabulary-uri': 'https://giving.example/themes' }, [
        narrative('Water'),
      ]),
      element('policy-marker', { vocabulary: '1', code: '1', significance: '1' }),
      element('default-aid-type', { code: 'C01', vocabulary: '1' }),
      budget('2025-01-01', '2025-12-31'),
      budget('2026-01-01', '2026-12-31'),
      element('capital-spend', { percentage: '10' }),
      aTransaction('in-1', { type: '1', day: '2026-02-28' }),
      aTransaction('out-1', { type: '3', day: '2026-02-15' }),
      documentLink('https://giving.example/7'),
      element('result', { type: '1' }, [
        element('title', {}, [narrative('Progress')]),
        element('indicator', { measure: '1' }, [
          element('title', {}, [narrative('Wells dug')]),
          element('period', {}, [...period('2025-01-01', '2025-12-31'), element('actual', { value: '3' })]),
        ]),
      ]),
    ],
  )
}

/** A valid organisation with every kind of budget. */
export function anOrganisation(): Element {
  const body = [...period('2026-01-01', '2026-12-31'), value('100.00', '2026-01-01')]
  return element('iati-organisation', { 'xml:lang': 'en', 'default-currency': 'EUR' }, [
    textElement('organisation-identifier', 'XM-DAC-47045'),
    element('name', {}, [narrative('A Platform')]),
    element('reporting-org', { ref: 'XM-DAC-47045', type: '21' }, [narrative('A Platform')]),
    element('total-budget', { status: '1' }, body),
    element('recipient-org-budget', { status: '1' }, [element('recipient-org', {}, [narrative('A Partner')]), ...body]),
    element('recipient-country-budget', {}, [
      element('recipient-country', { code: 'KE' }),
      ...body,
      element('budget-line', { ref: '1' }, [value('40.00', '2026-06-01'), narrative('Wells')]),
    ]),
    element('total-expenditure', {}, body),
    element('document-link', { url: 'https://giving.example/about', format: 'text/html' }, [
      element('title', {}, [narrative('About')]),
      element('category', { code: 'B16' }),
      element('recipient-country', { code: 'KE' }),
    ]),
  ])
}

export function narrative(text: string, attributes?: Attributes): Element {
  return textElement('narrative', text, attributes)
}

export function value(amount: string, day: string): Element {
  return textElement('value', amount, { currency: 'EUR', 'value-date': day })
}

export function period(from: string, to: string): Element[] {
  return [element('period-start', { 'iso-date': from }), element('period-end', { 'iso-date': to })]
}

export function budget(from: string, to: string, amount = '500.00'): Element {
  return element('budget', { type: '1', status: '1' }, [...period(from, to), value(amount, from)])
}

export function documentLink(url: string): Element {
  return element('document-link', { url, format: 'text/html' }, [
    element('title', {}, [narrative('A page')]),
    element('category', { code: 'A12' }),
  ])
}

export function aTransaction(ref: string, { type, day }: { type: string; day: string }): Element {
  return element('transaction', { ref }, [
    element('transaction-type', { code: type }),
    element('transaction-date', { 'iso-date': day }),
    value('10.00', day),
    element('description', {}, [narrative('Gifts')]),
    element('provider-org', { type: '90' }, [narrative('Donors')]),
    element('receiver-org', { type: '24' }, [narrative('A Partner')]),
  ])
}

/** The element with attributes added, changed, or (undefined) taken away. */
export function withAttributes(of: Element, changes: Record<string, string | undefined>): Element {
  const attributes: Record<string, string> = { ...of.attributes }
  for (const [name, change] of Object.entries(changes)) {
    if (change === undefined) delete attributes[name]
    else attributes[name] = change
  }
  return { ...of, attributes }
}

/** The element with its children changed. */
export function withChildren(of: Element, change: (children: readonly Element[]) => readonly Element[]): Element {
  return { ...of, children: change(of.children) }
}

/** The element with the first descendant at `path` (`transaction/value`) replaced; undefined takes it away. */
export function replaced(of: Element, path: string, change: (found: Element) => Element | undefined): Element {
  const [name = '', ...rest] = path.split('/')
  const index = of.children.findIndex((child) => child.name === name)
  const found = of.children[index]
  if (!found) throw new Error(`the element ${of.name} has no ${path}`)
  const next = rest.length === 0 ? change(found) : replaced(found, rest.join('/'), change)
  return withChildren(of, (children) => children.flatMap((child, at) => (at === index ? (next ?? []) : child)))
}

/** The element with a new child right after the last one of that name, or of the name `after`. */
export function inserted(of: Element, child: Element, after = child.name): Element {
  const index = of.children.findLastIndex(({ name }) => name === after)
  if (index < 0) throw new Error(`the element ${of.name} has no ${after}`)
  return withChildren(of, (children) => [...children.slice(0, index + 1), child, ...children.slice(index + 1)])
}

/** The element without the children of a name. */
export function without(of: Element, name: string): Element {
  return withChildren(of, (children) => children.filter((child) => child.name !== name))
}

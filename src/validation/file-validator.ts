import type { Notice } from '../domain/notice.js'
import { elementRule, standardVersion } from '../standard/index.js'
import type { Attributes, Element } from '../xml/element.js'
import { detached } from './detached.js'
import { type Findings, findingsAbout, identifierOf, quoted } from './findings.js'
import { createIdentifierTable } from './identifier-table.js'
import { collectLinkedActivities } from './linked-activities.js'
import { checkRecord, type RecordKind } from './record.js'
import { checkAttributes, isForeign, structureNotices } from './structure.js'
import { isAfterNow, type RecordContext } from './view.js'

/** What only a whole file can have wrong. */
export const fileNotices = {
  'xml-unreadable': {
    severity: 'error',
    official: ['0.1.1'],
    sentence: 'The file is not well-formed XML in UTF-8; what follows the place was not checked.',
  },
  'version-other': {
    severity: 'error',
    official: [],
    sentence: 'The file is not of the version of the standard that is checked, 2.03.',
  },
  'generated-in-future': {
    severity: 'error',
    official: [],
    sentence: 'The time at which the file was generated lies in the future.',
  },
  'generated-missing': {
    severity: 'warning',
    official: [],
    sentence: 'The file does not say when it was generated.',
  },
  'identifier-repeated': {
    severity: 'error',
    official: ['1.1.2'],
    sentence: 'Two records of the file have the same identifier.',
  },
  'reporting-org-several': {
    severity: 'error',
    official: [],
    sentence: 'The file has more than one reporting organisation.',
  },
  'linked-activity-missing': {
    severity: 'info',
    official: ['1000.0.1', '1000.0.2', '1000.0.3', '1000.0.4', '1000.0.5', '1000.0.6'],
    sentence: 'An activity that is referred to is not in the file (it may be published elsewhere).',
  },
  'record-tag-hidden': {
    severity: 'warning',
    official: [],
    sentence:
      'A comment or CDATA section holds the tag of a record, which consumers that cut files by text search misread.',
  },
  'file-too-large': {
    severity: 'warning',
    official: [],
    sentence: 'The file is larger than the 60,000,000 bytes that consumers of IATI read.',
  },
} as const

/** Checks one file, record by record, in the order of the document. */
export type FileValidator = {
  /** Checks one record, and what it adds to the file. */
  record(element: Element): void
  /** Character data between the records. */
  strayText(line: number): void
  /** Checks what only the end can tell; returns how many records there were. */
  finish(): number
}

const rootKinds: Readonly<Record<string, RecordKind>> = {
  'iati-activities': 'activity',
  'iati-organisations': 'organisation',
}

/** The kind of record that a root element holds; undefined when it is not one of IATI. */
export function kindOfRoot(name: string): RecordKind | undefined {
  return rootKinds[name]
}

/**
 * A validator for the file with this root element; notices go to `sink` at once, but those about activities that are
 * not in the file at its end. Memory grows with the number of identifiers, by at most 24 bytes each.
 */
export function createFileValidator(
  root: { readonly name: string; readonly attributes: Attributes; readonly line?: number },
  context: RecordContext,
  sink: (notice: Notice) => void,
): FileValidator {
  const rule = elementRule(`/${root.name}`)
  const kind = rootKinds[root.name]
  if (!rule || !kind) throw new Error(`not a root element of IATI: ${root.name}`)
  const rootElement: Element = { ...root, children: [], text: '' }
  const recordName = kind === 'activity' ? 'iati-activity' : 'iati-organisation'
  const findings: Findings = findingsAbout(rootElement, (notice) => sink({ ...notice, subject: root.name }))
  const at = (line: number | undefined): Element => (line === undefined ? rootElement : { ...rootElement, line })
  const add = (code: keyof typeof fileNotices, detail: string, attribute?: string, line?: number) =>
    findings.add({ code, severity: fileNotices[code].severity }, at(line), detail, attribute)
  const addStructure = (code: keyof typeof structureNotices, detail: string, line?: number) =>
    findings.add({ code, severity: structureNotices[code].severity }, at(line), detail)

  const identifiers = createIdentifierTable()
  const linked = collectLinkedActivities(
    { code: 'linked-activity-missing', severity: fileNotices['linked-activity-missing'].severity },
    identifiers.has,
    sink,
  )
  let reportingOrg: string | undefined
  let records = 0
  let foreignSeen = false

  checkAttributes(rootElement, rule, findings)
  const { version } = root.attributes
  if (version !== undefined && version !== standardVersion) {
    add('version-other', `expected version ${standardVersion}, got ${quoted(version)}`, 'version')
  }
  const generated = root.attributes['generated-datetime']
  if (generated === undefined) {
    add('generated-missing', `expected generated-datetime on ${root.name}, got none`, 'generated-datetime')
  } else if (isAfterNow(generated, context)) {
    const detail = `expected a time not after ${context.now ?? context.today}, got ${generated}`
    add('generated-in-future', detail, 'generated-datetime')
  }

  function checkIdentifier(record: Element): void {
    const own = identifierOf(record)
    const first = identifiers.add(own, record.line)
    if (first === undefined) return
    const where = first === 0 ? '' : ` in line ${first}`
    findingsAbout(record, sink).add(
      { code: 'identifier-repeated', severity: fileNotices['identifier-repeated'].severity },
      record,
      `expected each identifier once, got ${quoted(own)} again after the record${where}`,
    )
  }

  function checkReportingOrg(record: Element): void {
    const ref = record.children.find(({ name }) => name === 'reporting-org')?.attributes.ref
    if (ref === undefined) return
    reportingOrg ??= detached(ref)
    if (ref === reportingOrg) return
    findingsAbout(record, sink).add(
      { code: 'reporting-org-several', severity: fileNotices['reporting-org-several'].severity },
      record,
      `expected the reporting organisation ${quoted(reportingOrg)} in the whole file, got ${quoted(ref)}`,
    )
  }

  return {
    record(element) {
      if (isForeign(element)) {
        foreignSeen = true
        return
      }
      if (element.name !== recordName) {
        addStructure('element-unknown', `${root.name} has no child ${element.name}`, element.line)
        return
      }
      if (foreignSeen) {
        foreignSeen = false
        addStructure(
          'element-misplaced',
          `expected ${recordName} before elements of a foreign namespace in ${root.name}, got it after`,
          element.line,
        )
      }
      records += 1
      checkRecord(kind, element, context, sink)
      checkIdentifier(element)
      checkReportingOrg(element)
      if (kind === 'activity') linked.note(element)
    },
    strayText(line) {
      addStructure('text-unexpected', `expected only elements in ${root.name}, got text`, line)
    },
    finish() {
      linked.finish()
      if (records === 0) addStructure('element-missing', `expected at least 1 ${recordName} in ${root.name}, got none`)
      return records
    },
  }
}

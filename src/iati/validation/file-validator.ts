import { lookupTable } from '../../kernel/lookup-table.js'
import type { Notice } from '../../kernel/notice.js'
import type { Attributes, Element } from '../../kernel/xml/element.js'
import { atOnce } from '../../kernel/yielder.js'
import { elementRule, standardVersion } from '../standard/index.js'
import { detached } from './detached.js'
import { fileNotices } from './file-notices.js'
import { type Findings, findingsAbout, identifierOf, quoted } from './findings.js'
import { createIdentifierTable } from './identifier-table.js'
import { collectLinkedActivities } from './linked-activities.js'
import { checkPrefixes } from './prefixes.js'
import { type RecordKind, recordChecks } from './record.js'
import { checkAttributes, isForeign, structureNotices } from './structure.js'
import { isAfterNow, type RecordContext } from './view.js'

/** Checks one file, record by record, in the order of the document. */
export type FileValidator = {
  /** Checks one record, alone and against the earlier ones; the official schema may be asked about it as well. */
  record(element: Element, isSchemaAsked: boolean): void
  /** Reports a record that was not read as a whole; `reason` ends the sentence "the record ...". */
  oversize(element: Element, reason: string): void
  /** Reports character data between the records. */
  strayText(line: number): void
  /** Starts reporting undeclared prefixes; earlier records had none. */
  expectUnboundPrefixes(): void
  /** Does the checks that need the whole file; returns the number of records. */
  finish(): number
}

const rootKinds = lookupTable<RecordKind>({
  'iati-activities': 'activity',
  'iati-organisations': 'organisation',
})

/** The kind of record that a root element contains; undefined for a root element that is not of IATI. */
export function kindOfRoot(name: string): RecordKind | undefined {
  return rootKinds[name]
}

/**
 * A validator for the file with this root element. Notices go to `sink` at once; those about linked activities that the
 * file does not contain come at its end. Memory grows with the number of identifiers, by at most 24 bytes each.
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
  const aboutRoot = (notice: Notice) => sink({ ...notice, subject: root.name })
  const findings: Findings = findingsAbout(rootElement, aboutRoot, context.strict)
  const withoutUnchecked = (notice: Notice) => {
    if (notice.code !== 'attribute-unchecked') sink(notice)
  }
  const at = (line: number | undefined): Element => (line === undefined ? rootElement : { ...rootElement, line })
  const add = (code: keyof typeof fileNotices, detail: string, attribute?: string) =>
    findings.add({ code, ...fileNotices[code] }, rootElement, detail, attribute)
  const addStructure = (code: keyof typeof structureNotices, detail: string, line?: number) =>
    findings.add({ code, ...structureNotices[code] }, at(line), detail)
  const addAbout = (record: Element, code: keyof typeof fileNotices, detail: string) =>
    findingsAbout(record, sink).add({ code, ...fileNotices[code] }, record, detail)

  const identifiers = createIdentifierTable()
  const linked = collectLinkedActivities(
    { code: 'linked-activity-missing', ...fileNotices['linked-activity-missing'] },
    identifiers.has,
    sink,
  )
  let reportingOrg: string | undefined
  let records = 0
  let foreignSeen = false
  let prefixesUnbound = false

  checkAttributes(rootElement, rule, findings)
  const { version } = root.attributes
  if (version !== undefined && version !== standardVersion) {
    const code = /^\s*2\.0[12]\s*$/.test(version) ? 'version-earlier' : 'version-other'
    add(code, `expected version ${standardVersion}, got ${quoted(version)}`, 'version')
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
    addAbout(
      record,
      'identifier-repeated',
      `expected each identifier once, got ${quoted(own)} again after the record${where}`,
    )
  }

  function checkReportingOrg(record: Element): void {
    const ref = record.children.find(({ name }) => name === 'reporting-org')?.attributes.ref
    if (ref === undefined) return
    reportingOrg ??= detached(ref)
    if (ref === reportingOrg) return
    addAbout(
      record,
      'reporting-org-several',
      `expected the reporting organisation ${quoted(reportingOrg)} in the whole file, got ${quoted(ref)}`,
    )
  }

  /** Whether this is a record at a valid place. */
  function isRecord(element: Element): boolean {
    if (isForeign(element)) {
      foreignSeen = true
      return false
    }
    if (element.name !== recordName) {
      addStructure('element-unknown', `${root.name} has no child ${element.name}`, element.line)
      return false
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
    return true
  }

  return {
    record(element, isSchemaAsked) {
      if (prefixesUnbound) checkPrefixes(element, root.attributes, findingsAbout(element, sink))
      if (!isRecord(element)) return
      atOnce(recordChecks(kind, element, context, isSchemaAsked ? withoutUnchecked : sink))
      checkIdentifier(element)
      checkReportingOrg(element)
      if (kind === 'activity') linked.note(element)
    },
    oversize(element, reason) {
      if (!isRecord(element)) return
      addAbout(element, 'record-too-large', `expected a record within the limits, got one that ${reason}`)
      checkIdentifier(element)
    },
    expectUnboundPrefixes() {
      if (prefixesUnbound) return
      prefixesUnbound = true
      checkPrefixes(rootElement, root.attributes, findings)
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

import type { Notice } from '../../kernel/notice.js'
import type { Element } from '../../kernel/xml/element.js'
import { createYielder } from '../../kernel/yielder.js'
import { type ElementRule, elementRule } from '../standard/index.js'
import { type Findings, findingsAbout } from './findings.js'
import { rules } from './rules/index.js'
import type { Report, Rule } from './rules/rule.js'
import type { RecordShape } from './shapes.js'
import { checkStructure } from './structure.js'
import { type RecordContext, viewOf } from './view.js'

export type RecordKind = 'activity' | 'organisation'

const recordRules: Readonly<Record<RecordKind, ElementRule>> = {
  activity: ruleOf('/iati-activities/iati-activity'),
  organisation: ruleOf('/iati-organisations/iati-organisation'),
}

function ruleOf(path: string): ElementRule {
  const rule = elementRule(path)
  if (!rule) throw new Error(`the standard's data has no ${path}`)
  return rule
}

/** Passes every finding about one record to `sink`, one by one, and its shape to `shape`. */
export function checkRecord(...check: Parameters<typeof steps>): void {
  for (const _ of steps(...check));
}

/** The steps of a check, between which other work may have a turn. */
function* steps(
  kind: RecordKind,
  record: Element,
  context: RecordContext,
  sink: (notice: Notice) => void,
  shape?: RecordShape,
): Generator<undefined> {
  const findings = findingsAbout(record, sink, context.strict)
  checkStructure(record, recordRules[kind], shape ? doubting(findings, shape) : findings, shape)
  yield
  const view = viewOf(record, context)
  let current: Rule
  const report: Report = (element, detail, attribute, isBeyond) =>
    findings.add(current, element, detail, attribute, isBeyond)
  for (current of rules) {
    yield
    current.check(view, report)
  }
}

/** The same findings; any of them leaves the verdict about the record to the official schema. */
function doubting({ add }: Findings, shape: RecordShape): Findings {
  return {
    add: (...finding) => {
      shape.doubt()
      add(...finding)
    },
  }
}

/**
 * Everything that is wrong with an `iati-activity`: structure (as in the XSD), code lists, and the rules of the standard,
 * including errors that the official validator does not find. Never throws for bad data. `shape` gets the activity's.
 */
export function validateActivity(activity: Element, context: RecordContext, shape?: RecordShape): Notice[] {
  const notices: Notice[] = []
  checkRecord('activity', activity, context, (notice) => notices.push(notice), shape)
  return notices
}

/** Everything that is wrong with a record of another publisher's file; other work gets turns while a large one is checked. */
export async function validateInTurns(kind: RecordKind, record: Element, context: RecordContext): Promise<Notice[]> {
  const notices: Notice[] = []
  const yieldIfDue = createYielder()
  for (const _ of steps(kind, record, { ...context, strict: false }, (notice) => notices.push(notice)))
    await yieldIfDue()
  return notices
}

/** Everything that is wrong with an `iati-organisation`; see {@link validateActivity}. */
export function validateOrganisation(organisation: Element, context: RecordContext): Notice[] {
  const notices: Notice[] = []
  checkRecord('organisation', organisation, context, (notice) => notices.push(notice))
  return notices
}

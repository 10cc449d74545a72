import type { Notice } from '../../kernel/notice.js'
import type { Element } from '../../kernel/xml/element.js'
import { atOnce } from '../../kernel/yielder.js'
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

/** Passes every finding about one record to `sink`, one by one, and its shape to `shape`; yields between the rules. */
export function* recordChecks(
  kind: RecordKind,
  record: Element,
  context: RecordContext,
  sink: (notice: Notice) => void,
  shape?: RecordShape,
): Generator<void, void> {
  const findings = findingsAbout(record, sink, context.strict)
  checkStructure(record, recordRules[kind], shape ? doubting(findings, shape) : findings, shape)
  yield
  const view = viewOf(record, context)
  let current: Rule
  const report: Report = (element, detail, attribute, isBeyond) =>
    findings.add(current, element, detail, attribute, isBeyond)
  for (current of rules) {
    current.check(view, report)
    yield
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
export function* activityChecks(
  activity: Element,
  context: RecordContext,
  shape?: RecordShape,
): Generator<void, Notice[]> {
  const notices: Notice[] = []
  yield* recordChecks('activity', activity, context, (notice) => notices.push(notice), shape)
  return notices
}

/** The same in one turn. */
export function validateActivity(...given: Parameters<typeof activityChecks>): Notice[] {
  return atOnce(activityChecks(...given))
}

/** Everything that is wrong with an `iati-organisation`; see {@link activityChecks}. */
export function* organisationChecks(organisation: Element, context: RecordContext): Generator<void, Notice[]> {
  const notices: Notice[] = []
  yield* recordChecks('organisation', organisation, context, (notice) => notices.push(notice))
  return notices
}

import type { Element } from '../../../../src/kernel/xml/element.js'
import { exchanged, found, placed } from '../iati-editing.js'
import { withAttributes } from '../iati-records.js'
/** One way to break a record: the sound record gives no finding, the broken one gives the code. */
export type Mutant = {
  /** Id of the official rule that this breaks, or the blind spot of the official validator. */
  readonly breaks: string
  readonly code: string
  readonly what: string
  /** Undefined where the record has no place for it. */
  make(record: Element): { readonly sound: Element; readonly broken: Element } | undefined
}

/** The day that all mutants are made for. */
export const mutantsDay = '2026-12-15'
export const tomorrow = '2026-12-16'
export const agency = 'XM-DAC-41114'

export function isActivity(record: Element): boolean {
  return record.name === 'iati-activity'
}

function only(kind: 'activity' | 'organisation', record: Element): boolean {
  return isActivity(record) === (kind === 'activity')
}

/** Sets an attribute of the first element at `path`. */
export function attribute(
  breaks: string,
  code: string,
  [kind, path, name]: [kind: 'activity' | 'organisation', path: string, name: string],
  good: string | undefined,
  bad: string | undefined,
): Mutant {
  return {
    breaks,
    code,
    what: `${path}/@${name} ${bad === undefined ? 'is left out' : `is ${JSON.stringify(bad)}`}`,
    make(record) {
      const target = only(kind, record) ? found(record, path) : undefined
      if (!target) return undefined
      const set = (to: string | undefined) => exchanged(record, target, withAttributes(target, { [name]: to }))
      return { sound: set(good), broken: set(bad) }
    },
  }
}

/** Adds a child, sound or broken, to the first element at `path` (the record itself by default). */
export function child(
  breaks: string,
  code: string,
  what: string,
  make: (bad: boolean) => Element,
  [kind, path]: [kind: 'activity' | 'organisation', path: string] = ['activity', ''],
): Mutant {
  return {
    breaks,
    code,
    what,
    make: (record) =>
      only(kind, record) && found(record, path)
        ? { sound: placed(record, path, make(false)), broken: placed(record, path, make(true)) }
        : undefined,
  }
}

/** Any other change of an activity. */
export function activity(
  breaks: string,
  code: string,
  what: string,
  broken: (sound: Element) => Element,
  sound: (record: Element) => Element = (record) => record,
): Mutant {
  return {
    breaks,
    code,
    what,
    make(record) {
      if (!isActivity(record)) return undefined
      const start = sound(record)
      return { sound: start, broken: broken(start) }
    },
  }
}

export function organisation(breaks: string, code: string, what: string, broken: (sound: Element) => Element): Mutant {
  return {
    breaks,
    code,
    what,
    make: (record) => (isActivity(record) ? undefined : { sound: record, broken: broken(record) }),
  }
}

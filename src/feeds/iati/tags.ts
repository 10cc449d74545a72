import type { ProjectGraph } from '../../domain/project.js'
import { isActiveCode } from '../../standard/index.js'
import { type Element, element } from '../../xml/element.js'
import type { Mapping } from './mapping.js'

/**
 * `tag` [0..*]: Sustainable Development Goals (vocabulary 2) and targets (3). A goal is left out where one of its targets
 * is named, for the target says it already (iati.md 3.5).
 */
export function tags({ sdgs }: ProjectGraph, mapping: Mapping): Element[] {
  const known = sdgs.filter((code) => {
    const active = isActiveCode(isTarget(code) ? 'UNSDG-Targets' : 'UNSDG-Goals', code)
    if (!active) mapping.notice('sdg-unknown', 'sdgs', `expected a goal such as 6 or a target such as 6.1, got ${code}`)
    return active
  })
  return known
    .filter((code) => isTarget(code) || !known.some((other) => other.startsWith(`${code}.`)))
    .sort(bySdg)
    .map((code) => element('tag', { code, vocabulary: isTarget(code) ? '3' : '2' }))
}

function isTarget(code: string): boolean {
  return code.includes('.')
}

/** Goal by goal; within one, numbered targets before lettered ones, as the United Nations list them. */
function bySdg(a: string, b: string): number {
  const [goalA = '', targetA = ''] = a.split('.')
  const [goalB = '', targetB = ''] = b.split('.')
  return Number(goalA) - Number(goalB) || targetOrder(targetA) - targetOrder(targetB)
}

function targetOrder(target: string): number {
  return /^[a-d]$/.test(target) ? 100 + target.charCodeAt(0) : Number(target)
}

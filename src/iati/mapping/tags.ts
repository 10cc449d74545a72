import type { ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import { isActiveCode } from '../standard/index.js'
import type { MappingContext } from './mapping-context.js'

/** `tag` [0..*]: Sustainable Development Goals (vocabulary 2) and targets (3); a target implies its goal (iati.md 3.5). */
export function tags({ sdgs }: ProjectGraph, context: MappingContext): Element[] {
  const known = sdgs.filter((code) => {
    const active = isActiveCode(isTarget(code) ? 'UNSDG-Targets' : 'UNSDG-Goals', code)
    if (!active) context.notice('sdg-unknown', 'sdgs', `expected a goal such as 6 or a target such as 6.1, got ${code}`)
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

/** By goal; within a goal numbered targets before lettered ones, as in the official list. */
function bySdg(a: string, b: string): number {
  const [goalA = '', targetA = ''] = a.split('.')
  const [goalB = '', targetB = ''] = b.split('.')
  return Number(goalA) - Number(goalB) || targetOrder(targetA) - targetOrder(targetB)
}

function targetOrder(target: string): number {
  return /^[a-d]$/.test(target) ? 100 + target.charCodeAt(0) : Number(target)
}

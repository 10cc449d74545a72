import type { ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import type { MappingContext } from './mapping-context.js'
import { purposeCodes } from './sectors.js'

/** The activity's `humanitarian` flag: a theme of disaster response, or an emergency that is named. */
export function isHumanitarian(graph: ProjectGraph, context: MappingContext): boolean {
  const { project, themes } = graph
  if (project.glideNumber !== undefined || themes.some((theme) => theme.humanitarian)) return true
  if (purposeCodes(graph).some((code) => /^7[234]/.test(code))) context.assume('humanitarian')
  return false
}

/** `humanitarian-scope` [0..*]: the emergency (type 1) by its GLIDE number (vocabulary 1-2), where it is known. */
export function humanitarianScope({ project }: ProjectGraph): Element | undefined {
  if (project.glideNumber === undefined) return undefined
  return element('humanitarian-scope', { type: '1', vocabulary: '1-2', code: project.glideNumber })
}

import type { ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import type { MappingContext } from './mapping-context.js'
import { purposeCodes } from './sectors.js'

/**
 * The activity's `humanitarian` flag: a theme of disaster response, an emergency that is named, or where nobody has said a
 * purpose code of emergencies (iati.md 3.7). A file from before a move says it itself.
 */
export function isHumanitarian(graph: ProjectGraph, context: MappingContext): boolean {
  const { project, themes, kept } = graph
  if (project.glideNumber !== undefined || themes.some((theme) => theme.humanitarian)) return true
  const answering = themes.filter((theme) => purposeCodes({ themes: [theme] }).some((code) => /^7[234]/.test(code)))
  const [first] = answering
  if (first === undefined) return false
  if (context.edition === 1) {
    context.assume('humanitarian')
    return false
  }
  if (answering.some((theme) => theme.humanitarian === undefined)) {
    if (kept) return false
    context.assume('humanitarian')
    return true
  }
  const detail = `expected a purpose code other than 72xxx to 74xxx, or a humanitarian theme, got ${first.sectorCode} of ${first.id}`
  context.notice('humanitarian-contradicted', 'themes', detail)
  return false
}

/** `humanitarian-scope` [0..*]: the emergency (type 1) by its GLIDE number (vocabulary 1-2), where it is known. */
export function humanitarianScope({ project }: ProjectGraph): Element | undefined {
  if (project.glideNumber === undefined) return undefined
  return element('humanitarian-scope', { type: '1', vocabulary: '1-2', code: project.glideNumber })
}

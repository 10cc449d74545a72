import type { ProjectGraph, Theme } from '../../kernel/project.js'
import { themeNamed } from '../../kernel/theme-sectors.js'
import { type Element, element } from '../../kernel/xml/element.js'
import { isActiveCode } from '../standard/index.js'
import { percentages } from './geography.js'
import type { MappingContext } from './mapping-context.js'
import { narratives } from './narrative.js'

/**
 * `sector`, at activity level (rule 6.2.2): DAC purpose codes of the themes (vocabulary 1), equal shares, then the
 * platform's own themes (vocabulary 99) with their names; each vocabulary sums to exactly 100.
 */
export function sectors(graph: ProjectGraph, context: MappingContext): Element[] {
  return [...bySector(graph, context), ...ownThemes(graph.themes, context)]
}

/** The active DAC purpose codes of the project's themes. */
export function purposeCodes({ themes }: Pick<ProjectGraph, 'themes'>): string[] {
  return [...new Set(themes.flatMap((theme) => theme.sectorCode ?? []))].filter((code) => isActiveCode('Sector', code))
}

function bySector(graph: ProjectGraph, context: MappingContext): Element[] {
  const codes = purposeCodes(graph)
  if (codes.length === 0) {
    const themes = graph.themes.map((theme) => theme.id).join(', ') || 'none'
    context.notice('sector-unknown', 'themes', `expected a theme with a DAC purpose code, got ${themes}`)
    codes.push(context.assume('sector'))
  }
  if (codes.length > 1 || graph.themes.length > 1) context.assume('sector-shares')
  const shares = percentages(codes.map(() => 1n))
  return codes.map((code, index) => element('sector', { vocabulary: '1', code, ...share(codes, shares[index]) }))
}

function ownThemes(themes: readonly Theme[], context: MappingContext): Element[] {
  const shares = percentages(themes.map(() => 1n))
  return themes.map((theme, index) =>
    element(
      'sector',
      {
        vocabulary: '99',
        'vocabulary-uri': `${context.config.baseUrl}/#themes`,
        code: theme.id,
        ...share(themes, shares[index]),
      },
      narratives([[languageOfTheme(theme, context), theme.name]], context.language),
    ),
  )
}

/** A theme that has the name which this program knows is called so in English. */
function languageOfTheme({ name }: Theme, { config }: MappingContext): string {
  return themeNamed(name) === undefined ? config.language : 'en'
}

function share(all: readonly unknown[], percentage: string | undefined): { percentage?: string } {
  return all.length > 1 && percentage ? { percentage } : {}
}

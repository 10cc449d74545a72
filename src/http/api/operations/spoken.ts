import Negotiator from 'negotiator'
import { organisationGraphs } from '../../../catalogue/sql/organisations.js'
import { projectGraphs } from '../../../catalogue/sql/project-graphs.js'
import { findOtherLanguages, type OtherLanguages } from '../../../catalogue/sql/ready-texts/other-languages.js'
import type { OrganisationTexts, ProjectTexts } from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { organisationTexts } from '../../../catalogue/wire/write/organisation.js'
import { projectTexts } from '../../../catalogue/wire/write/project.js'
import { fileNameOf, type Noun, namedFields } from '../../../kernel/nouns/field.js'
import { organisationFields } from '../../../kernel/nouns/organisation.js'
import { projectFields } from '../../../kernel/nouns/project.js'
import { type InLanguages, textIn } from '../../../kernel/texts.js'
import type { Db } from '../../../platform/database/connection.js'
import { writableTexts } from '../../../release/render/ready-texts.js'
import { primaryLanguage } from '../contract/donation-schemas.js'

const mostLanguages = 10

/** The languages that a client asks for, and those that the answer's texts are in then. */
export class Spoken {
  readonly #wanted: readonly string[]
  readonly #own: string
  readonly #used = new Set<string>()
  #hasOther = false

  private constructor(wanted: readonly string[], own: string) {
    this.#wanted = wanted
    this.#own = own
  }

  /** Undefined: it asks for none. `own` is that of records that name none. */
  static of(acceptLanguage: string | undefined, own: string): Spoken | undefined {
    const asked = new Negotiator({ headers: { 'accept-language': acceptLanguage ?? '' } }).languages()
    const wanted = asked.flatMap((tag) => (tag === '*' ? [] : (primaryLanguage(tag) ?? [])))
    return wanted.length === 0 ? undefined : new Spoken([...new Set(wanted)].slice(0, mostLanguages), own)
  }

  /** Languages of the texts that were answered. */
  get used(): string[] {
    return [...this.#used].sort()
  }

  /** What distinguishes the answer from the one in the records' own languages; '': nothing. */
  get version(): string {
    return this.#hasOther ? ` ${this.#wanted.join()}` : ''
  }

  /** Those of these projects that have a text in a wanted language, in these languages. */
  async projects(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, ProjectTexts>> {
    const found = this.#inWantedLanguage(await findOtherLanguages(db, 'project', ids))
    const graphs = found.length === 0 ? [] : await projectGraphs(db, found)
    const texts = writableTexts(graphs, (graph) => {
      const { project, organisation } = graph
      const partner = organisation && { organisation: this.#tell(organisation, organisationFields) }
      return projectTexts({ ...graph, project: this.#tell(project, projectFields), ...partner })
    })
    return new Map(texts.map((one) => [one.id, one]))
  }

  /** The same of organisations. */
  async organisations(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, OrganisationTexts>> {
    const found = this.#inWantedLanguage(await findOtherLanguages(db, 'organisation', ids))
    const graphs = found.length === 0 ? [] : await organisationGraphs(db, found)
    const texts = writableTexts(graphs, ({ version, organisation }) =>
      organisationTexts({ version, organisation: this.#tell(organisation, organisationFields) }),
    )
    return new Map(texts.map((one) => [one.id, one]))
  }

  #inWantedLanguage(rows: readonly OtherLanguages[]): number[] {
    return rows.flatMap(({ id, language = this.#own, keys }) => {
      if (this.#wanted.some((one) => keys.some((key) => key.endsWith(`@${one}`)))) return id
      this.#used.add(language)
      return []
    })
  }

  /** The record with each text in the first wanted language that it has, else in its own. */
  #tell<Text extends InLanguages>(record: Text, noun: Noun): Text {
    const { language: own = this.#own } = record
    const texts: Record<string, string> = {}
    for (const field of namedFields(noun)) {
      if (!field.inLanguages) continue
      const name = fileNameOf(field)
      const language = this.#wanted.find((one) => one === own || textIn(record, name, one) !== undefined) ?? own
      const text = language === own ? undefined : textIn(record, name, language)
      if (text !== undefined) texts[field.field] = text
      if (text !== undefined || (record as Readonly<Record<string, unknown>>)[field.field]) this.#used.add(language)
    }
    if (Object.keys(texts).length > 0) this.#hasOther = true
    return { ...record, ...texts }
  }
}

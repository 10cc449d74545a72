import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Parser, Store } from 'n3'
import ShaclValidator from 'rdf-validate-shacl'

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8')

/** What the published profile of Data Package 2.0 finds in a description. */
export function dataPackageFindings(description: unknown): unknown[] {
  const profile = JSON.parse(fixture('data-package-profile.json')) as object
  const validate = new Ajv({ allErrors: true, strictTypes: false }).compile(profile)
  validate(description)
  return validate.errors ?? []
}

/** What the official shapes of DCAT-AP find in a catalogue in Turtle: path and message of each finding. */
export async function dcatFindings(turtle: string): Promise<unknown[]> {
  const shapes = new Store(new Parser({ baseIRI: 'https://shapes.example/' }).parse(fixture('dcat-ap-shapes.ttl')))
  const { results } = await new ShaclValidator(shapes).validate(new Store(new Parser().parse(turtle)))
  return results.map(({ path, message }) => [path?.value, message.map(({ value }) => value)])
}

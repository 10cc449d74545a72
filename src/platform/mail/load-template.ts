import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere, messageOf } from '../../kernel/system-errors.js'
import { MailTemplate } from './mail-template.js'

const builtIn = fileURLToPath(new URL('templates/', import.meta.url))

/** Where templates are taken from. */
export type TemplateChoice = { readonly language: string; readonly operatorsDir: string | undefined }

/** The template of a message in one language: the operator's, else the built-in one. Throws `configuration-invalid`. */
async function findTemplate<Field extends string>(
  message: string,
  fields: readonly Field[],
  { language, operatorsDir }: TemplateChoice,
): Promise<MailTemplate<Field> | undefined> {
  for (const folder of operatorsDir === undefined ? [builtIn] : [operatorsDir, builtIn]) {
    const file = path.join(folder, `${message}.${language}.txt`)
    const source = await readIfThere(file)
    if (source !== undefined) return MailTemplate.parse(source, fields, language, file)
  }
  return undefined
}

/** As `findTemplate`, in English where there is none in that language. */
export async function loadTemplate<Field extends string>(
  message: string,
  fields: readonly Field[],
  choice: TemplateChoice,
): Promise<MailTemplate<Field>> {
  const found =
    (await findTemplate(message, fields, choice)) ??
    (await findTemplate(message, fields, { ...choice, language: 'en' }))
  if (!found) throw new Error('the built-in template is missing')
  return found
}

/** As `loadTemplate`, in the language that a person wants where there is a template in it; also returns the language. */
export async function templateFor<Field extends string>(
  message: string,
  fields: readonly Field[],
  { wanted, choice }: { readonly wanted: string | undefined; readonly choice: TemplateChoice },
): Promise<{ readonly template: MailTemplate<Field>; readonly language: string }> {
  const own = wanted === undefined ? undefined : await findTemplate(message, fields, { ...choice, language: wanted })
  if (own && wanted !== undefined) return { template: own, language: wanted }
  return { template: await loadTemplate(message, fields, choice), language: choice.language }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await ifThere(readFile(file, 'utf8'))
  } catch (error) {
    const message = `the mail template ${file} cannot be read: ${messageOf(error)}`
    throw new ServiceError('configuration-invalid', message, { cause: error })
  }
}

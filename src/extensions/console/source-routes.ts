import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readingOfRecipe } from '../../catalogue/import/reading.js'
import { listSources } from '../../catalogue/sql/import-sources.js'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere } from '../../kernel/system-errors.js'
import { changeSources } from '../sources/change-sources.js'
import { readDefinition } from '../sources/definition.js'
import { canEnd } from '../sources/end-missing.js'
import { needImport, operatorOf } from './access.js'
import type { ConsoleDeps } from './console-deps.js'
import { type FormTokens, senderOf } from './forms.js'
import { addSourcePage, schedules } from './pages/sources.js'
import type { Upload } from './uploads.js'

const folderName = /^[A-Za-z0-9][\w-]{0,62}$/

/** The page on which a file that was imported becomes a source. */
export function sourceRoutes(app: FastifyInstance, deps: ConsoleDeps, tokens: FormTokens): void {
  const { store, runtime, uploads } = deps
  // What an operator of the console names is never another file of this machine.
  const inbox = path.resolve(runtime.config.dataDir, 'inbox')
  const found = async (request: FastifyRequest, id: string): Promise<Upload & { recipe: { kind: string } }> => {
    needImport(request)
    const upload = await uploads.find(operatorOf(request) ?? '', id)
    if (upload?.recipe?.kind !== undefined) return { ...upload, recipe: { ...upload.recipe, kind: upload.recipe.kind } }
    throw new ServiceError('not-found', 'there is no such file: what was chosen for a file is gone after a day')
  }

  app.get<{ Querystring: { upload?: string } }>('/sources/add', async (request, reply) => {
    const { id, recipe, by } = await found(request, request.query.upload ?? '')
    const names = new Set((await listSources(store.db)).map(({ name }) => name))
    const free = [recipe.kind, ...Array.from({ length: 99 }, (_, at) => `${recipe.kind}-${at + 2}`)]
    const page = addSourcePage({
      ...{ token: tokens.issue(request), operator: operatorOf(request), upload: id, kind: recipe.kind, by },
      ...{ name: free.find((name) => !names.has(name)) ?? '', canEnd: canEnd(recipe.kind), inbox },
      folders: await foldersIn(inbox),
    })
    return tokens.send(reply, 'sources', 'Read this every night', page)
  })

  app.post('/sources/add', async (request, reply) => {
    const form = tokens.read(request)
    const { recipe } = await found(request, form.get('upload') ?? '')
    const { actor, origin } = senderOf(request, form)
    const name = (form.get('source') ?? '').trim()
    const schedule = schedules.find(([value]) => value === form.get('schedule'))?.[0]
    const definition = readDefinition({
      ...{ name, kind: recipe.kind, from: await placeOf((form.get('from') ?? '').trim()), schedule },
      complete: form.get('complete') === 'yes',
      ...readingOfRecipe(recipe),
    })
    if ((await listSources(store.db)).some((one) => one.name === name))
      throw new ServiceError('request-invalid', `there is a source ${name} already: take another name`)
    await changeSources(runtime, [definition], [], { actor, origin })
    const done = `The source ${name} is there: a worker reads it by its schedule, or now when you ask for it.`
    return tokens.lead(reply, '/sources', done)
  })

  /** An address, or a folder for files, which is made. Throws `request-invalid` for other places. */
  async function placeOf(given: string): Promise<string> {
    if (/^https?:\/\//i.test(given)) return given
    if (!folderName.test(given)) {
      throw new ServiceError(
        'request-invalid',
        `from: expected an address with https, or the name of a folder in ${inbox}; giving sources add takes other places`,
      )
    }
    const folder = path.join(inbox, given)
    await mkdir(folder, { recursive: true, mode: 0o750 })
    return folder
  }
}

async function foldersIn(inbox: string): Promise<string[]> {
  const entries = (await ifThere(readdir(inbox, { withFileTypes: true }))) ?? []
  return entries.flatMap((entry) => (entry.isDirectory() && folderName.test(entry.name) ? [entry.name] : [])).sort()
}

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AuditAction, type Operator, recordAudit } from '../../accounts/sql/audit-events.js'
import { findKind } from '../../catalogue/import/kinds.js'
import { readRecipe } from '../../catalogue/import/reading.js'
import { builtInRecipe, builtInRecipes, isRecipeName } from '../../catalogue/import/recipes/named-recipes.js'
import { findImport, listImports } from '../../catalogue/sql/imports.js'
import type { Recipe } from '../../catalogue/sql/reading.js'
import { findRecipe, listRecipes, saveRecipe } from '../../catalogue/sql/recipes.js'
import type { Html } from '../../http/pages/html.js'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere } from '../../kernel/system-errors.js'
import { within } from '../../kernel/within.js'
import { mayImport, needImport, operatorOf } from './access.js'
import type { ConsoleDeps } from './console-deps.js'
import { type FormTokens, givenNumber, senderOf } from './forms.js'
import { formParts } from './multipart.js'
import { importPage, importsPage } from './pages/imports.js'
import { uploadPage, workingPage } from './pages/upload.js'
import { isImportable, isSameRecipe, recipeOfForm } from './recipe-form.js'
import { UploadWork } from './upload-work.js'
import type { Upload } from './uploads.js'

const shownImports = 100
const uploadsAddress = '/imports/uploads'
// A page waits so long for work before it says that it goes on.
const patienceMs = 5_000
const progressSeconds = 2
const pruningMs = 3_600_000
const mostFieldBytes = 4_096
const mostRecipeBytes = 65_536

type ById = { Params: { id: string } }
type ByBefore = { Querystring: { before?: string; after?: string } }

/** The pages on which an office moves in: a file is sent, looked at, read as a person chooses, and imported. */
export function uploadRoutes(app: FastifyInstance, deps: ConsoleDeps, tokens: FormTokens): void {
  const { store, clock, log, uploads } = deps
  const work = new UploadWork(deps)
  const prune = () =>
    uploads.prune().catch((err: unknown) => log.warn({ err }, 'files that were sent could not be removed'))
  const pruning = setInterval(prune, pruningMs).unref()
  app.addHook('onReady', async () => void prune())
  app.addHook('onClose', async () => clearInterval(pruning))
  let senders = 0

  const send = (reply: FastifyReply, title: string, main: Html | readonly Html[]) =>
    tokens.send(reply, 'imports', title, main)
  const ownerOf = (request: FastifyRequest) => operatorOf(request) ?? ''
  const found = async (request: FastifyRequest, id: string): Promise<Upload> => {
    needImport(request)
    const upload = await uploads.find(ownerOf(request), id)
    if (upload) return upload
    throw new ServiceError('not-found', 'there is no such file: files that were sent are gone after a day')
  }
  const enter = (
    operator: Operator,
    action: AuditAction,
    upload: Upload,
    details: Record<string, string | number> = {},
  ) =>
    recordAudit(store.db, {
      ...{ action, subject: `upload ${upload.id}`, details, at: clock() },
      ...{ actor: operator.actor, origin: operator.origin },
    })
  const waiting = async (request: FastifyRequest) =>
    (await uploads.list(ownerOf(request))).filter((one) => one.import === undefined)
  const recipeNames = async () => [...builtInRecipes(), ...(await listRecipes(store.db)).map(({ name }) => name)]

  /** Looks at a file, and tries it by its recipe, as far as that was not done. */
  const prepare = async (owner: string, id: string) => {
    const upload = await uploads.find(owner, id)
    if (upload && !upload.look && upload.broken === undefined) await work.look(upload)
    const known = await uploads.find(owner, id)
    if (known) await work.try(known)
  }

  app.get<ByBefore>('/imports', async (request, reply) => {
    const before = givenNumber(request.query.before)
    const shown = await listImports(store.db, { limit: shownImports, ...(before !== undefined && { before }) })
    const sending = mayImport(request) && {
      ...{ token: tokens.issue(request, uploadsAddress), address: uploadsAddress, limits: uploads.limits },
      ...{ operator: operatorOf(request), waiting: await waiting(request), recipes: await recipeNames() },
    }
    return send(reply, 'Imports', importsPage(shown, shown.length === shownImports, sending || undefined))
  })

  app.get<ById>('/imports/:id', async (request, reply) => {
    const id = givenNumber(request.params.id)
    const one = id === undefined ? undefined : await findImport(store.db, id)
    if (!one) return reply.callNotFound()
    const upload = mayImport(request)
      ? (await uploads.list(ownerOf(request))).find((sent) => sent.import === one.id)
      : undefined
    const refused = upload && (await hasFile(uploads.refusedOf(upload))) ? refusedAddress(upload) : undefined
    return send(reply, `Import ${one.id}`, importPage(one, { mayImport: mayImport(request), upload, refused }))
  })

  void app.register(async (scope) => {
    // The body is read as it comes, after its head has shown who sends it.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('multipart/form-data', (_request, body, done) => done(null, body))
    scope.post(
      uploadsAddress,
      {
        onRequest: async (request) => {
          needImport(request)
          tokens.checkOrigin(request)
          if (Number(request.headers['content-length'] ?? 0) > uploads.limits.allBytes)
            throw new ServiceError('request-too-large', 'these are more bytes than the files that wait may have')
          if (senders >= uploads.limits.senders)
            throw new ServiceError('server-busy', 'others are sending files: send yours when they are done')
        },
      },
      async (request, reply) => {
        senders++
        try {
          const sent = await receive(request)
          const owner = ownerOf(request)
          const looking = Promise.all(sent.map(({ id }) => lookOnly(owner, id)))
          await isDoneSoon(looking)
          const order = await waiting(request)
          const first = order.find(({ id }) => sent.some((one) => one.id === id)) ?? sent[0]
          return tokens.lead(reply, `${uploadsAddress}/${first?.id}`)
        } finally {
          senders--
        }
      },
    )
  })

  const lookOnly = async (owner: string, id: string) => {
    const upload = await uploads.find(owner, id)
    if (upload) await work.look(upload)
  }

  /** Takes the files of a form; where one of them is refused, none of the form is kept. */
  async function receive(request: FastifyRequest): Promise<Upload[]> {
    const form = new URLSearchParams()
    const sent: Upload[] = []
    let recipe: Recipe | undefined
    let operator: Operator | undefined
    const body = (request.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
    const { idleMs } = uploads.limits
    try {
      for await (const part of formParts(request.headers['content-type'] ?? '', inTime(body, idleMs))) {
        if (part.fileName === undefined) {
          form.append(part.name, await textOf(part.content, mostFieldBytes))
          continue
        }
        if (!operator) {
          tokens.checkToken(request, form)
          operator = senderOf(request, form)
        }
        // A browser sends a choice of no file as one without a name.
        if (part.fileName === '') continue
        if (part.name === 'recipe') recipe = recipeIn(await textOf(part.content, mostRecipeBytes))
        if (part.name !== 'file') continue
        if (sent.length === uploads.limits.files)
          throw new ServiceError('request-too-large', `at most ${uploads.limits.files} files are sent at a time`)
        const upload = await uploads.add(ownerOf(request), part.fileName, part.content)
        sent.push(upload)
        await enter(operator, 'file-sent', upload, { bytes: upload.bytes, sha256: upload.sha256 })
      }
      tokens.checkToken(request, form)
      if (sent.length === 0) throw new ServiceError('request-invalid', 'choose a file first')
      const by = form.get('name')?.trim()
      const given = recipe ?? (await recipeNamed(form.get('named') ?? ''))
      for (const one of sent) await uploads.save({ ...one, ...(by && { by }), ...(given && { recipe: given }) })
      return sent
    } catch (error) {
      for (const one of sent) await uploads.remove(one)
      // The answer is lost to a client whose bytes nobody takes (RFC 9112 9.6).
      void passOver(inTime(body, idleMs), uploads.limits.allBytes).catch(() => request.raw.destroy())
      throw error
    }
  }

  /** A recipe of this name; never a file of this machine. */
  async function recipeNamed(name: string): Promise<Recipe | undefined> {
    if (name === '') return undefined
    const known = isRecipeName(name) ? (builtInRecipe(name) ?? (await findRecipe(store.db, name))?.recipe) : undefined
    if (known) return known
    throw new ServiceError('not-found', 'there is no recipe of this name')
  }

  app.get<ById & ByBefore>(`${uploadsAddress}/:id`, async (request, reply) => {
    const { id } = request.params
    const upload = await found(request, id)
    work.throwFailure(upload)
    if (upload.import !== undefined) return await leadOn(request, reply, upload.import)
    const working = work.progressOf(upload)
    const isPrepared = !working && (await isDoneSoon(prepare(upload.owner, id)))
    const known = await found(request, id)
    // Between two steps of the work nothing is in progress.
    const progress = work.progressOf(known)
    if (progress || !isPrepared) {
      reply.header('refresh', String(progressSeconds))
      return send(reply, known.name, workingPage(known, progress ?? working ?? { what: 'is being read', records: 0 }))
    }
    const after = givenNumber(request.query.after)
    const page = uploadPage({
      ...{ upload: known, token: tokens.issue(request), operator: operatorOf(request) },
      ...{ others: (await waiting(request)).filter((one) => one.id !== id), recipes: await recipeNames() },
      after: after === undefined ? undefined : await findImport(store.db, after),
      refused: (await hasFile(uploads.refusedOf(known))) ? refusedAddress(known) : undefined,
    })
    return send(reply, known.name, page)
  })

  /** Leads to the next file that waits, with what became of this one, or to its receipt. */
  const leadOn = async (request: FastifyRequest, reply: FastifyReply, id: number) => {
    const next = (await waiting(request)).find((one) => one.broken === undefined)
    const address = next ? `${uploadsAddress}/${next.id}?after=${id}` : `/imports/${id}`
    return tokens.lead(reply, address)
  }

  app.post<ById>(`${uploadsAddress}/:id`, async (request, reply) => {
    const form = tokens.read(request)
    const upload = await found(request, request.params.id)
    const operator = senderOf(request, form)
    const address = `${uploadsAddress}/${upload.id}`
    const seen = () => tokens.lead(reply, address)
    const progress = work.progressOf(upload)
    if (progress || upload.import !== undefined) return await seen()
    const doing = form.get('do') ?? 'look'
    if (doing === 'remove') {
      await uploads.remove(upload)
      await enter(operator, 'upload-removed', upload)
      const done = `${upload.name} is removed: nothing of it was stored.`
      return tokens.lead(reply, '/imports', done)
    }
    const recipe = await chosen(upload, form, operator)
    if (recipe === undefined) return await seen()
    const isKnown = upload.recipe !== undefined && isSameRecipe(recipe, upload.recipe)
    if (!isKnown) {
      const { tried: _, ...known } = upload
      await uploads.save({ ...known, recipe })
      await enter(operator, 'upload-read', upload, { kind: recipe.kind ?? 'unknown' })
    }
    if (doing === 'save') {
      await keepRecipe(form.get('as') ?? '', recipe, operator)
      return await seen()
    }
    // What is imported is what the page has shown.
    if (doing !== 'import' || !isKnown || !isImportable(upload)) return await seen()
    await isDoneSoon(work.import(upload, recipe, operator))
    const known = await found(request, upload.id)
    return known.import === undefined ? await seen() : await leadOn(request, reply, known.import)
  })

  /** The recipe that a form says; undefined where the file is looked at again as another kind. */
  async function chosen(upload: Upload, form: URLSearchParams, operator: Operator): Promise<Recipe | undefined> {
    const { look, recipe = {} } = upload
    if (!look) return undefined
    const named = await recipeNamed(form.get('named') ?? '')
    if (named) return named
    const kind = form.get('kind') ?? recipe.kind
    if (kind !== recipe.kind) {
      if (kind === undefined || !findKind(kind)) throw new ServiceError('request-invalid', 'expected a kind of records')
      await enter(operator, 'upload-read', upload, { kind })
      if (!look.columns) return { kind }
      await isDoneSoon(work.look(upload, { kind, sheet: recipe.sheet }))
      return undefined
    }
    const sheet = form.get('sheet') ?? undefined
    if (sheet !== undefined && look.sheets?.includes(sheet) && sheet !== (recipe.sheet ?? look.sheets[0])) {
      await enter(operator, 'upload-read', upload, { kind: kind ?? 'unknown' })
      await isDoneSoon(work.look(upload, { sheet }))
      return undefined
    }
    return look.columns && kind !== undefined ? recipeOfForm(form, look.columns, recipe) : recipe
  }

  async function keepRecipe(name: string, recipe: Recipe, operator: Operator): Promise<void> {
    if (!isRecipeName(name) || builtInRecipe(name)) {
      throw new ServiceError(
        'request-invalid',
        'the name of a recipe: expected small letters, digits and hyphens, and no name that is built in',
      )
    }
    const { actor, origin } = operator
    await store.transaction(async (db) => {
      if (!(await saveRecipe(db, { name, recipe, savedBy: actor, savedAt: clock() }))) return
      await recordAudit(db, { action: 'recipe-saved', subject: `recipe ${name}`, actor, origin, at: clock() })
    })
  }

  app.get<ById>(`${uploadsAddress}/:id/refused`, async (request, reply) => {
    const upload = await found(request, request.params.id)
    const file = uploads.refusedOf(upload)
    if (!(await hasFile(file))) return reply.callNotFound()
    const isLines = upload.look?.columns === undefined && /\.(?:ndjson|jsonl)$/.test(upload.file)
    const name = `${upload.file.replace(/\.[a-z]+$/, '')}.refused.${isLines ? 'ndjson' : 'csv'}`
    return await reply
      .type('application/octet-stream')
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(createReadStream(file))
  })
}

function refusedAddress({ id }: Upload): string {
  return `${uploadsAddress}/${id}/refused`
}

async function hasFile(file: string): Promise<boolean> {
  return (await ifThere(stat(file)))?.isFile() ?? false
}

/** Waits for work as long as a page may, and says whether it has ended; else it fails where the file is looked at next. */
async function isDoneSoon(work: Promise<unknown>): Promise<boolean> {
  return await Promise.race([work.then(() => true), sleep(patienceMs, false, { ref: false })])
}

/** The chunks of a body, of which none is waited for longer than this. */
async function* inTime(chunks: AsyncIterator<Buffer>, idleMs: number): AsyncGenerator<Buffer> {
  const why = `nothing came for ${idleMs / 1000} s: the file was not sent whole`
  for (;;) {
    const next = await within(idleMs, chunks.next(), () => new ServiceError('request-malformed', why))
    if (next.done) return
    yield next.value
  }
}

/** Takes what is left of a body; throws when it is too much. */
async function passOver(chunks: AsyncIterable<Buffer>, mostBytes: number): Promise<void> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new ServiceError('request-too-large', 'a body without end')
  }
}

async function textOf(content: AsyncIterable<Buffer>, mostBytes: number): Promise<string> {
  let bytes = 0
  async function* bounded() {
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > mostBytes) throw new ServiceError('request-too-large', `a field has at most ${mostBytes} bytes`)
      yield chunk
    }
  }
  return await text(bounded())
}

/** The recipe in a text. Throws `input-unusable`. */
function recipeIn(json: string): Recipe {
  let raw: unknown
  try {
    raw = JSON.parse(json)
  } catch {
    throw new ServiceError('input-unusable', 'the recipe: expected JSON')
  }
  return readRecipe(raw)
}

import { rm } from 'node:fs/promises'
import type { Operator } from '../../accounts/sql/audit-events.js'
import { type ImportOptions, importFiles } from '../../catalogue/import/import.js'
import { shownFields } from '../../catalogue/import/preview.js'
import { readingOfRecipe } from '../../catalogue/import/reading.js'
import { lookAtFile } from '../../catalogue/import/recipes/look-at-file.js'
import { tryImport } from '../../catalogue/import/try-import.js'
import { listImports } from '../../catalogue/sql/imports.js'
import type { Recipe } from '../../catalogue/sql/reading.js'
import { ServiceError } from '../../kernel/errors.js'
import type { ConsoleDeps } from './console-deps.js'
import type { Upload } from './uploads.js'

/** What is done with a file at this moment. */
export type UploadProgress = { readonly what: string; records: number }

type Running = { readonly progress: UploadProgress; readonly done: Promise<void>; failure?: unknown }

// The text of a field in a preview is no longer than a person reads.
const mostCharacters = 200

/** Reads files and imports them, one at a time in a process: each may take a connection and much of the processor. */
export class UploadWork {
  readonly #deps: ConsoleDeps
  readonly #running = new Map<string, Running>()
  #last: Promise<void> = Promise.resolve()

  constructor(deps: ConsoleDeps) {
    this.#deps = deps
  }

  progressOf({ id }: Upload): UploadProgress | undefined {
    const one = this.#running.get(id)
    return one?.failure === undefined ? one?.progress : undefined
  }

  /** Finds out what a file is; of a table that is asked for as a kind, or of a sheet, how that would be read. */
  look(upload: Upload, asked?: Pick<Recipe, 'kind' | 'sheet'>): Promise<void> {
    return this.#start(upload, 'is being looked at', async () => {
      const { uploads, importOptions, stopping } = this.#deps
      const { tried: _, ...known } = upload
      try {
        const look = await lookAtFile(uploads.pathOf(upload), {
          ...{ currency: importOptions.currency, signal: stopping },
          ...asked,
        })
        await uploads.save({
          ...known,
          look,
          recipe: asked === undefined ? (upload.recipe ?? look.recipe) : look.recipe,
        })
      } catch (error) {
        await uploads.save({ ...known, broken: unusable(error) })
      }
    })
  }

  /** Finds out what an import would do, where that is not known of this recipe and this store. */
  async try(upload: Upload): Promise<void> {
    const { uploads, runtime } = this.#deps
    const { recipe, tried, broken } = upload
    if (recipe?.kind === undefined || broken !== undefined) return
    const [newest] = await listImports(runtime.store.db, { limit: 1 })
    const after = newest?.id ?? 0
    // Another page may have begun it meanwhile.
    if (tried?.after === after || this.progressOf(upload)) return
    await this.#start(upload, 'is being read', async (progress) => {
      const options = this.#optionsOf(upload, recipe, progress)
      try {
        await this.#forgetRefused(upload)
        const { records, summary } = await tryImport(runtime.store, uploads.pathOf(upload), options)
        const shown = records.map((record) => ({ ...record, fields: Object.fromEntries(shownFields(record).map(cut)) }))
        await uploads.save({ ...upload, tried: { recipe, after, result: { records: shown, summary } } })
      } catch (error) {
        await uploads.save({ ...upload, tried: { recipe, after, result: { broken: unusable(error) } } })
      }
    })
  }

  /** Imports a file by the recipe that was tried; afterwards the file is gone, but not what was refused of it. */
  import(upload: Upload, recipe: Recipe, operator: Operator): Promise<void> {
    return this.#start(upload, 'is being imported', async (progress) => {
      const { uploads, runtime } = this.#deps
      const options = { ...this.#optionsOf(upload, recipe, progress), operator }
      await this.#forgetRefused(upload)
      const { import: id } = await importFiles(runtime.store, [uploads.pathOf(upload)], options)
      const { tried: _, ...known } = upload
      await uploads.save({ ...known, ...(id !== undefined && { import: id }) })
      await rm(uploads.pathOf(upload), { force: true })
    })
  }

  #optionsOf({ name, id, file, ...upload }: Upload, recipe: Recipe, progress: UploadProgress): ImportOptions {
    const { uploads, importOptions, stopping } = this.#deps
    return {
      ...importOptions,
      ...{ source: 'import', kind: recipe.kind, reading: readingOfRecipe(recipe), signal: stopping, shownAs: name },
      refusedTo: uploads.refusedOf({ ...upload, name, id, file }),
      onProgress: ({ records }) => {
        progress.records = records
      },
    }
  }

  #forgetRefused(upload: Upload): Promise<void> {
    return rm(this.#deps.uploads.refusedOf(upload), { force: true })
  }

  /** Does work on a file behind all that is done already. Throws `server-busy` while something else is done with the file. */
  #start({ id, name }: Upload, what: string, work: (progress: UploadProgress) => Promise<void>): Promise<void> {
    const other = this.#running.get(id)
    if (other && other.failure === undefined) {
      throw new ServiceError('server-busy', `${name} ${other.progress.what}: wait until it is done`)
    }
    const progress = { what, records: 0 }
    const done = this.#last.then(() => work(progress))
    const running: Running = { progress, done }
    this.#running.set(id, running)
    const end = () => void this.#running.delete(id)
    // A failure waits for the next look at the file, where nobody waits for the work.
    this.#last = done.then(end, (error: unknown) => {
      running.failure = error
    })
    return done
  }

  /** Throws why the last work on a file failed, once. */
  throwFailure({ id }: Upload): void {
    const failure = this.#running.get(id)?.failure
    if (failure === undefined) return
    this.#running.delete(id)
    throw failure
  }
}

function cut([name, value]: [string, unknown]): [string, unknown] {
  return [
    name,
    typeof value === 'string' && value.length > mostCharacters ? `${value.slice(0, mostCharacters)}…` : value,
  ]
}

/** What a person is told of a file that nothing can be made of. Throws whatever else went wrong. */
function unusable(error: unknown): string {
  if (error instanceof ServiceError && error.code === 'input-unusable') return error.message
  throw error
}

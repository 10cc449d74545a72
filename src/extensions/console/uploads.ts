import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { kinds } from '../../catalogue/import/kinds.js'
import type { Look } from '../../catalogue/import/recipes/look-at-file.js'
import type { TriedImport } from '../../catalogue/import/try-import.js'
import type { Recipe } from '../../catalogue/sql/reading.js'
import type { Clock } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere } from '../../kernel/system-errors.js'
import { writeWhole } from '../../platform/files/whole-file.js'

/** A file that an operator has sent, with what was chosen and seen since. It waits in a folder of its own for a day. */
export type Upload = {
  readonly id: string
  /** The operator who sent it, and who alone sees it; empty: everybody who reaches a console without tokens. */
  readonly owner: string
  /** The name that was given on a console without tokens. */
  readonly by?: string
  /** What it was called, for people. */
  readonly name: string
  /** What it is called here. */
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  readonly sentAt: string
  /** What it is taken for; absent: nobody has looked at it yet. */
  readonly look?: Look
  /** Why nothing can be made of it. */
  readonly broken?: string
  /** How it is read, as chosen last. */
  readonly recipe?: Recipe
  /** What this recipe does, in the store as it was after an import. */
  readonly tried?: {
    readonly recipe: Recipe
    readonly after: number
    readonly result: TriedImport | { readonly broken: string }
  }
  /** The import that it became. */
  readonly import?: number
}

export const uploadLimits = {
  /** Of one file. */
  bytes: 200 * 1024 * 1024,
  /** Of all files that wait, so that they cannot fill the disk. */
  allBytes: 2 * 1024 * 1024 * 1024,
  files: 20,
  /** The longest silence of a sender. */
  idleMs: 30_000,
  /** How many send at a time. */
  senders: 2,
  keptMs: 86_400_000,
}

export type UploadLimits = typeof uploadLimits

// Names that no file of an operator has here.
const [stateFile, refusedFile] = ['_upload.json', '_refused']
const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The files that wait in a data directory. */
export class Uploads {
  readonly #folder: string
  readonly #clock: Clock
  readonly limits: UploadLimits

  constructor(dataDir: string, clock: Clock, limits: UploadLimits) {
    this.#folder = path.join(dataDir, 'uploads')
    this.#clock = clock
    this.limits = limits
  }

  /** Writes a file as it comes. Throws `request-too-large`; then nothing of it is left. */
  async add(owner: string, given: string, chunks: AsyncIterable<Buffer>): Promise<Upload> {
    const name = shownName(given)
    const [id, file] = [randomUUID(), ownName(name)]
    const folder = path.join(this.#folder, id)
    const room = this.limits.allBytes - (await this.#bytes())
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      const whole = await writeWhole(path.join(folder, file), bounded(chunks, this.limits.bytes, room), {
        isPrivate: true,
      })
      if (whole.bytes === 0) throw new ServiceError('request-invalid', `${name} is empty`)
      const sha256 = whole.hash.replace('sha256:', '')
      const upload = { id, owner, name, file, bytes: whole.bytes, sha256, sentAt: this.#clock().toISOString() }
      await this.save(upload)
      return upload
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** The file of an operator; undefined where it is gone, or somebody else's. */
  async find(owner: string, id: string): Promise<Upload | undefined> {
    const upload = idPattern.test(id) ? await this.#read(id) : undefined
    return upload?.owner === owner ? upload : undefined
  }

  /** The files of an operator in the order in which the store needs them, those without a kind last. */
  async list(owner: string): Promise<Upload[]> {
    const all = await Promise.all((await this.#ids()).map((id) => this.#read(id)))
    const order = kinds.map(({ name }): string => name)
    const placeOf = ({ recipe }: Upload) => {
      const place = order.indexOf(recipe?.kind ?? '')
      return place < 0 ? order.length : place
    }
    return all
      .filter((one) => one !== undefined)
      .filter((one) => one.owner === owner)
      .sort((a, b) => placeOf(a) - placeOf(b) || (a.sentAt < b.sentAt ? -1 : 1))
  }

  async save(upload: Upload): Promise<void> {
    await writeWhole(path.join(this.#folder, upload.id, stateFile), [Buffer.from(JSON.stringify(upload))], {
      isPrivate: true,
    })
  }

  pathOf({ id, file }: Upload): string {
    return path.join(this.#folder, id, file)
  }

  /** Where its refused rows are written. */
  refusedOf({ id }: Upload): string {
    return path.join(this.#folder, id, refusedFile)
  }

  async remove({ id }: Upload): Promise<void> {
    await rm(path.join(this.#folder, id), { recursive: true, force: true })
  }

  /** Removes what has waited for a day, and what a process that died has left half written. */
  async prune(): Promise<void> {
    const before = this.#clock().getTime() - this.limits.keptMs
    for (const id of await this.#ids()) {
      const upload = await this.#read(id)
      const sentAt = upload ? Date.parse(upload.sentAt) : (await stat(path.join(this.#folder, id))).mtimeMs
      if (sentAt < before) await rm(path.join(this.#folder, id), { recursive: true, force: true })
    }
  }

  async #ids(): Promise<string[]> {
    return ((await ifThere(readdir(this.#folder))) ?? []).filter((name) => idPattern.test(name))
  }

  async #read(id: string): Promise<Upload | undefined> {
    const state = await ifThere(readFile(path.join(this.#folder, id, stateFile), 'utf8'))
    return state === undefined ? undefined : (JSON.parse(state) as Upload)
  }

  async #bytes(): Promise<number> {
    const all = await Promise.all((await this.#ids()).map((id) => this.#read(id)))
    return all.reduce((sum, one) => sum + (one?.bytes ?? 0), 0)
  }
}

async function* bounded(chunks: AsyncIterable<Buffer>, most: number, room: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > most)
      throw new ServiceError(
        'request-too-large',
        `a file has at most ${Math.floor(most / 1_048_576)} MB here: giving import reads larger ones`,
      )
    if (bytes > room)
      throw new ServiceError(
        'server-busy',
        'the files that wait have no room for another one: remove one, or wait a day',
      )
    yield chunk
  }
}

/** The last part of a name, without what nobody sees. */
function shownName(given: string): string {
  const [last = ''] = given.split(/[/\\]/).slice(-1)
  return (
    last
      .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
      .trim()
      .slice(0, 100) || 'file'
  )
}

const endings = /\.(?:csv|tsv|txt|json|ndjson|jsonl|xml|atom|rss|gz|zip|xlsx)$/

/** A name that no file system could misunderstand, and that still tells the kind of a file. */
function ownName(name: string): string {
  const lower = name.toLowerCase()
  const [ending = ''] = endings.exec(lower) ?? []
  const stem = lower
    .slice(0, lower.length - ending.length)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
  return `${stem.slice(0, 60) || 'file'}${ending}`
}

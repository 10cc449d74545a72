import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import { releaseFolder } from '../folder/release-folder.js'

/** A picture of another host on a page: the file that it is kept in, else when it is asked for again. */
export type ListedPicture = {
  readonly url: string
  readonly file?: string
  readonly bytes?: number
  /** How often it was asked for in vain. */
  readonly tries?: number
  readonly nextAt?: string
}

/** The pictures of the pages of a release, those of cards first. */
export type PictureList = { readonly release: string; readonly pictures: readonly ListedPicture[] }

/** Where the list is, in the folder of pictures. */
export const pictureListName = 'index.json'

/** The list in a folder of pictures; undefined before the first, and where it is broken: then it is made again. */
export async function readPictureList(folder: string): Promise<PictureList | undefined> {
  const text = await ifThere(readFile(path.join(folder, pictureListName), 'utf8'))
  try {
    return text === undefined ? undefined : (JSON.parse(text) as PictureList)
  } catch {
    return undefined
  }
}

const fileName = /^[0-9a-f]{64}\.webp$/

/** The operator's mirror of pictures, as the worker has filled it. */
export class MirroredPictures {
  readonly #folder: string
  #files: ReadonlyMap<string, string> = new Map()
  #version = ''

  constructor(feedsDir: string) {
    this.#folder = releaseFolder(feedsDir).pictures
  }

  /** Reads the list where it has changed; what it returns differs from then on. */
  async refresh(): Promise<string> {
    const found = await ifThere(stat(path.join(this.#folder, pictureListName)))
    const version = found ? `${found.ino} ${found.mtimeMs} ${found.size}` : ''
    if (version !== this.#version) {
      const pictures = (await readPictureList(this.#folder))?.pictures ?? []
      this.#files = new Map(pictures.flatMap(({ url, file }) => (file === undefined ? [] : [[url, file]])))
      this.#version = version
    }
    return version
  }

  /** The name of the file that a picture is kept in. */
  fileOf(url: string): string | undefined {
    return this.#files.get(url)
  }

  /** The bytes of a file by its name, which is a hash of them; undefined when there is none. */
  async find(file: string): Promise<Buffer | undefined> {
    return fileName.test(file) ? await ifThere(readFile(path.join(this.#folder, file))) : undefined
  }
}

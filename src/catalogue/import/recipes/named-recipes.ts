import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { ServiceError } from '../../../kernel/errors.js'
import { isErrno, messageOf } from '../../../kernel/system-errors.js'
import type { Db } from '../../../platform/database/connection.js'
import type { Recipe } from '../../sql/reading.js'
import { findRecipe } from '../../sql/recipes.js'
import { readRecipe } from '../reading.js'

const folder = new URL('built-in/', import.meta.url)

/** Names of recipes for the exports of programs that many have: files that nothing else names, so any of them can be left out. */
export function builtInRecipes(): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .map((file) => path.parse(file).name)
    .sort()
}

/** A recipe that every installation has. */
export function builtInRecipe(name: string): Recipe | undefined {
  if (!builtInRecipes().includes(name)) return undefined
  return readRecipe(JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')))
}

/** Whether a text can be the name of a recipe, which no path with a folder or an ending is. */
export function isRecipeName(text: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)
}

/**
 * The recipe of this name, built in or stored, or that in this file. Throws `input-unusable` for a file that is none, and
 * `not-found`. Without a store only files and what is built in are known.
 */
export async function findNamedRecipe(db: Db | undefined, nameOrFile: string): Promise<Recipe> {
  const known = isRecipeName(nameOrFile)
    ? (builtInRecipe(nameOrFile) ?? (db && (await findRecipe(db, nameOrFile))?.recipe))
    : undefined
  return known ?? readRecipeFile(nameOrFile)
}

/** The recipe in a file. Throws `input-unusable` where it is none, and `not-found`. */
export function readRecipeFile(file: string): Recipe {
  try {
    return readRecipe(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      throw new ServiceError('not-found', `there is no recipe ${file}: see giving recipes list, or name a file`)
    }
    throw new ServiceError('input-unusable', `${file}: expected a recipe in JSON: ${messageOf(error)}`)
  }
}

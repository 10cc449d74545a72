import type { Db } from '../../platform/database/connection.js'
import type { Recipe } from './reading.js'

/** A recipe of the store. */
export type StoredRecipe = {
  readonly name: string
  readonly recipe: Recipe
  readonly savedBy: string
  readonly savedAt: Date
}

const columns = 'name, recipe, saved_by, saved_at'

export async function listRecipes(db: Db): Promise<StoredRecipe[]> {
  const { rows } = await db.query<StoredRecipe>(`select ${columns} from import_recipe order by name`)
  return rows
}

export async function findRecipe(db: Db, name: string): Promise<StoredRecipe | undefined> {
  const { rows } = await db.query<StoredRecipe>(`select ${columns} from import_recipe where name = $1`, [name])
  return rows[0]
}

/** Saves a recipe, in the place of one with its name. Returns whether it says something new. */
export async function saveRecipe(db: Db, { name, recipe, savedBy, savedAt }: StoredRecipe): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into import_recipe as r (name, recipe, saved_by, saved_at) values ($1, $2, $3, $4)
      on conflict (name) do update set (recipe, saved_by, saved_at) = row (excluded.recipe, excluded.saved_by,
          excluded.saved_at)
        where r.recipe::text <> excluded.recipe::text`,
    [name, JSON.stringify(recipe), savedBy, savedAt],
  )
  return rowCount === 1
}

/** Removes a recipe; sources keep what it said. Returns whether it was there. */
export async function removeRecipe(db: Db, name: string): Promise<boolean> {
  return (await db.query('delete from import_recipe where name = $1', [name])).rowCount === 1
}

import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { lineOfCsv } from '../../kernel/csv.js'
import { type Clock, type IsoDate, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Connection } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import { writeWhole } from '../../platform/files/whole-file.js'
import { findKind } from '../import/kinds.js'
import { isPrivate, isWritten, namesFor, type ResourceName, sqlOf, tableOf } from '../sql/export/resources.js'
import { readStoreFacts, selectedTexts } from '../sql/export/snapshot.js'
import { inColumns, type ResourceSql } from '../sql/export/table-resource.js'
import { csvLines, type ExportedRecord } from './csv-lines.js'
import {
  type DataPackage,
  describeResource,
  descriptorName,
  type ExportFormat,
  fileName,
  type PackageResource,
  packageSchema,
} from './data-package.js'

export type ExportOptions = {
  readonly format: ExportFormat
  /** Files of CSV begin with a byte order mark. */
  readonly bom?: boolean
  /** One resource only; all when absent. */
  readonly kind?: ResourceName | undefined
  /** Only records of this day and later, where they have a day; all when absent. */
  readonly since?: IsoDate | undefined
  readonly donors: boolean
  readonly accounts: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: (resource: ResourceName, rows: number) => void
}

/**
 * Writes the store as files into an empty folder, from one snapshot, in memory that does not grow with it; the descriptor
 * comes last, so a folder without one is no export. Throws `input-unusable` for a folder that is not empty, `storage-failed`
 * and `aborted`.
 */
export async function exportStore(store: Store, directory: string, options: ExportOptions): Promise<DataPackage> {
  const { format, kind, since, donors, accounts, clock } = options
  await prepareDirectory(directory)
  const names = kind === undefined ? namesFor(options).filter((name) => isExported(name, format)) : [kind]
  return await store.snapshot(async (db, client) => {
    const files: PackageResource[] = []
    for (const name of names) {
      const whole = await sqlOf(db, name, options)
      const sql = format === 'csv' ? await inColumns(db, tableOf(name), whole) : whole
      files.push(await writeResource(client, name, sql, directory, options))
    }
    const descriptor: DataPackage = {
      $schema: packageSchema,
      name: 'giving-export',
      created: isoInstantOf(clock()),
      resources: files,
      giving: {
        ...(await readStoreFacts(db)),
        complete: kind === undefined && since === undefined && format === 'ndjson',
        donors: donors && kind === undefined,
        accounts: accounts && kind === undefined,
      },
    }
    const text = Buffer.from(`${JSON.stringify(descriptor, null, 2)}\n`)
    await writeWhole(path.join(directory, descriptorName), [text], { isPrivate: false })
    return descriptor
  })
}

/** CSV is for people, so it has the kinds that `giving import` knows; funders are among organizations for an import. */
function isExported(name: ResourceName, format: ExportFormat): boolean {
  return format === 'csv' ? findKind(name) !== undefined : isWritten(name)
}

async function prepareDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
    const [found] = await readdir(directory)
    if (found !== undefined) {
      throw new ServiceError('input-unusable', `expected an empty folder, but ${directory} has ${found}`)
    }
  } catch (error) {
    if (error instanceof ServiceError || !(error instanceof Error)) throw error
    throw new ServiceError('storage-failed', `cannot write into ${directory}: ${error.message}`, { cause: error })
  }
}

async function writeResource(
  client: Connection,
  name: ResourceName,
  sql: ResourceSql,
  directory: string,
  { format, bom = false, signal, onProgress }: ExportOptions,
): Promise<PackageResource> {
  let rowCount = 0
  const members = Object.keys(sql.members)
  async function* chunks(): AsyncGenerator<Buffer> {
    if (format === 'csv') yield Buffer.from(`${bom ? '\uFEFF' : ''}${lineOfCsv(members)}`)
    for await (const texts of selectedTexts(client, sql.read)) {
      if (signal.aborted) throw new ServiceError('aborted', 'the export was interrupted')
      rowCount += texts.length
      onProgress?.(name, rowCount)
      if (format === 'csv') yield Buffer.from(csvLines(sql.members, texts.map(parseRecord)))
      else for (const text of texts) yield Buffer.concat([text, lineBreak])
    }
  }
  const file = path.join(directory, fileName(name, format))
  const written = await writeWhole(file, chunks(), { isPrivate: isPrivate(name) })
  return describeResource(name, format, sql, { ...written, rowCount })
}

const lineBreak = Buffer.from('\n')

function parseRecord(text: Buffer): ExportedRecord {
  const record = JSON.parse(text.toString('utf8')) as ExportedRecord
  return { ...record, ...(record.texts as object | undefined) }
}

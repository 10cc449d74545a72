import type { Theme } from '../../domain/project.js'
import { record, string, type WireRecord } from './wire.js'

/** A theme; a client reads `id` and `name` by position (wire.md 1.4). */
export function themeRecord(theme: Theme): WireRecord {
  return record([
    ['id', string(theme.id)],
    ['name', string(theme.name)],
  ])
}

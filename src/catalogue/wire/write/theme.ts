import type { ThemeRecord } from '../../../kernel/record.js'
import { object, string, type WireObject } from './wire-value.js'

/** A theme; a client reads `id` and `name` by position (wire.md 1.4). */
export function themeRecord(theme: ThemeRecord): WireObject {
  return object([
    ['id', string(theme.id)],
    ['name', string(theme.name)],
  ])
}

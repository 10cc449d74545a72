import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'

/**
 * Which database a server has, and how often one of its standbys has been promoted: a primary with a lower timeline than
 * another one of the same system was left behind by a failover.
 */
export type Lineage = { readonly system: string; readonly timeline: number }

/** What was seen, in the folder of published files. */
type Seen = {
  /** The highest timeline of each system. */
  readonly timelines: Readonly<Record<string, number>>
  /** When a person last decided that a lower one counts; '' for never. */
  readonly accepted: string
  /** Which process was last kept from writing, and when. */
  readonly refused?: { readonly message: string; readonly at: string }
}

// A process that is kept from writing says so again while it runs.
const refusedMs = 600_000
const repeatMs = 60_000

const nothing: Seen = { timelines: {}, accepted: '' }

/** Beside the releases: it moves, is copied and is restored with them. */
const fileName = 'database-seen'

/** The timeline of the server, 0 for a standby, which takes no writes anyway. */
export const timelineSql = `case when pg_is_in_recovery() then 0
    else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end`

/**
 * Remembers the newest timeline of the database that this process, or another one with its folder, has seen: a primary
 * that is behind is read only until a person accepts it.
 */
export class Fence {
  readonly #file: string
  #seen = nothing
  #refused: Lineage | undefined

  constructor(feedsDir: string) {
    this.#file = path.join(feedsDir, fileName)
    this.refresh()
  }

  /** The highest timeline of the system that was seen; 0 for one that never was. */
  seen(system: string): number {
    return this.#seen.timelines[system] ?? 0
  }

  /** Takes note of the server that a new connection leads to; returns whether it is behind. */
  noteServer(lineage: Lineage): boolean {
    if (lineage.timeline === 0) return false
    this.refresh()
    const isBehind = this.isBehind(lineage)
    if (isBehind) {
      this.#refused = lineage
      this.#tell()
    } else {
      this.#refused = undefined
      if (lineage.timeline > this.seen(lineage.system)) this.#raise({ [lineage.system]: lineage.timeline })
    }
    return isBehind
  }

  /** Whether a newer primary of the same system was seen. */
  isBehind({ system, timeline }: Lineage): boolean {
    return timeline > 0 && timeline < this.seen(system)
  }

  /** Why the last connection to a primary is read only; undefined where it is not. */
  get refusal(): string | undefined {
    if (!this.#refused || !this.isBehind(this.#refused)) return undefined
    const { system, timeline } = this.#refused
    return `the database is an older primary: it is at timeline ${timeline}, and timeline ${this.seen(system)} was seen. Nothing is written: correct DATABASE_URL, stop the old primary, or use this one all the same (giving database accept)`
  }

  /** As `refusal`, or that of another process with this folder within the last minutes. */
  problem(now: Date): string | undefined {
    if (this.refusal !== undefined) return this.refusal
    const { message, at } = this.#seen.refused ?? {}
    return at !== undefined && now.getTime() - Date.parse(at) < refusedMs ? message : undefined
  }

  /** Reads what other processes have seen, and writes what only this one has. */
  refresh(): void {
    this.#tell()
    const file = this.#read()
    if (file.accepted !== this.#seen.accepted) this.#seen = file
    const ahead = Object.entries(this.#seen.timelines).filter(
      ([system, timeline]) => timeline > (file.timelines[system] ?? 0),
    )
    this.#seen = { ...file, timelines: { ...file.timelines, ...Object.fromEntries(ahead) } }
    if (ahead.length > 0) this.#write()
  }

  /**
   * Merges what processes with other folders have seen (`others`, as text) into what this one has seen. Returns the merged text;
   * undefined when it is no other than `others`. The newest decision of a person counts.
   */
  exchange(others: string | undefined): string | undefined {
    this.refresh()
    const before = this.#seen
    const { timelines, accepted } = readSeen(others)
    if (accepted > before.accepted) this.#seen = { timelines, accepted }
    else if (accepted === before.accepted) {
      this.#seen = { ...before, timelines: highest(timelines, before.timelines) }
    }
    if (!isDeepStrictEqual(this.#seen, before)) this.#write()
    const all = JSON.stringify({
      timelines: highest(this.#seen.timelines),
      accepted: this.#seen.accepted,
    } satisfies Seen)
    return all === others || Object.keys(this.#seen.timelines).length === 0 ? undefined : all
  }

  /** Lets the timeline of a server count, though a higher one was seen. Throws when that cannot be written. */
  accept({ system, timeline }: Lineage, at: Date): void {
    this.#seen = { timelines: { ...this.#seen.timelines, [system]: timeline }, accepted: at.toISOString() }
    writeSeen(this.#file, this.#seen)
    this.#refused = undefined
  }

  /** Notes for all processes that this one is kept from writing. */
  #tell(): void {
    const message = this.refusal
    const at = new Date()
    const refused = this.#seen.refused
    if (message === undefined || (refused && at.getTime() - Date.parse(refused.at) < repeatMs)) return
    this.#seen = { ...this.#seen, refused: { message: `on ${hostname()}: ${message}`, at: at.toISOString() } }
    this.#write()
  }

  #raise(timelines: Seen['timelines']): void {
    this.#seen = { ...this.#seen, timelines: { ...this.#seen.timelines, ...timelines } }
    this.#write()
  }

  #read(): Seen {
    try {
      return { ...nothing, ...(JSON.parse(readFileSync(this.#file, 'utf8')) as Partial<Seen>) }
    } catch {
      // Before the first publication there is no folder, and this process remembers alone.
      return { ...this.#seen, timelines: {} }
    }
  }

  #write(): void {
    try {
      writeSeen(this.#file, this.#seen)
    } catch {
      // It is tried again with the next refresh.
    }
  }
}

/** What another folder has seen; nothing where the text is none of ours. */
function readSeen(text: string | undefined): Seen {
  try {
    return { ...nothing, ...(JSON.parse(text ?? '{}') as Partial<Seen>) }
  } catch {
    return nothing
  }
}

/** The highest timeline of each system, in the order of the systems. */
function highest(one: Seen['timelines'], other: Seen['timelines'] = {}): Seen['timelines'] {
  const systems = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort()
  return Object.fromEntries(systems.map((system) => [system, Math.max(one[system] ?? 0, other[system] ?? 0)]))
}

function writeSeen(file: string, seen: Seen): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(seen)}\n`, { flush: true })
  renameSync(draft, file)
}

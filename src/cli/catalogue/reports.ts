import type { Command } from 'commander'
import {
  correctReport,
  findReport,
  type ReportCorrections,
  removeReport,
  type StoredReport,
} from '../../catalogue/sql/imported-reports.js'
import { instantsInText, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { type CommandLine, isoDay, orNotFound } from '../command-line.js'
import { labelled } from '../output.js'
import { type Correctable, registerCorrections } from '../wiring/corrections.js'

/** `giving reports`. */
export function registerReports(program: Command, commandLine: CommandLine): void {
  const group = program.command('reports').description('progress reports')
  registerCorrections(group, commandLine, reports)
}

const reports: Correctable<ShownReport, ReportCorrections> = {
  ...{ kind: 'reports', one: 'report', argument: ['<id>', 'number or externalId of the report'] },
  options: (command) =>
    command
      .option('--title <text>', 'its title')
      .option('--author <text>', 'its author')
      .option('--published <day>', 'the day of its publication', isoDay),
  find: async (db, id) => instantsInText(orNotFound(await findReport(db, id), `there is no report ${id}`)),
  describe: ({ id, project, title, author, published, updated, url, source }) =>
    labelled(
      [
        ['report', `${id} of project ${project}`],
        ['title', title],
        ['author', author],
        ['published', published],
        ['updated', updated],
        ['address', url],
        ['source', source],
      ],
      12,
    ),
  correct: async ({ db, runtime }, report, corrections) => {
    refuseMirrored(report)
    const day = corrections.published
    if (day !== undefined && day > isoInstantOf(runtime.clock()).slice(0, 10)) {
      throw new ServiceError('input-unusable', `--published: expected a day that is not in the future, got ${day}`)
    }
    await correctReport(db, report.id, corrections)
  },
  remove: async ({ db }, report) => {
    refuseMirrored(report)
    await removeReport(db, report.id)
  },
}

type ShownReport = ReturnType<typeof instantsInText<StoredReport>>

function refuseMirrored({ id, source }: ShownReport): void {
  if (source !== 'upstream') return
  throw new ServiceError('input-unusable', `report ${id} is upstream: the next sync would bring it again as it was`)
}

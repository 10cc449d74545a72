type EqualMutant = {
  readonly file: string
  /** The inmost function around the place. */
  readonly in: string
  readonly ours: string
  readonly theirs: string
  readonly why: string
}

const memory = 'memory alone: what is let go of later is found again as it was'
const idle = 'idle connections end by themselves, within seconds'

/**
 * Mutants that a person has read and found to do the same: the run counts them by themselves, so that it tells of new survivors
 * alone. What a test could see does not belong here.
 */
export const equalMutants: readonly EqualMutant[] = [
  {
    file: 'src/extensions/portal/pages/project-list.ts',
    in: 'keep',
    ours: 'kept.characters += rows.length',
    theirs: 'kept.characters -= rows.length',
    why: memory,
  },
  {
    file: 'src/accounts/passwords.ts',
    in: 'limitedForOne',
    ours: 'limit.users--',
    theirs: 'limit.users++',
    why: memory,
  },
  {
    file: 'src/accounts/sql/accounts.ts',
    in: 'issueToken',
    ours: '<',
    theirs: '<=',
    why: 'a token that ends in this instant is valid no more, and goes now or with the next',
  },
  {
    file: 'src/platform/database/fence.ts',
    in: '#tell',
    ours: 'at.getTime() - Date.parse(told.at)',
    theirs: 'at.getTime() + Date.parse(told.at)',
    why: 'the same note is written more often',
  },
  {
    file: 'test/support/store/schema/schema.sql',
    in: 'mark',
    ours: 'p.active and',
    theirs: '',
    why: 'refresh_search asks again which projects are active',
  },
  {
    file: 'src/catalogue/sync/upstream-client.ts',
    in: '[Symbol.asyncDispose]',
    ours: '{\n    await this.#client[Symbol.asyncDispose]()\n  }',
    theirs: '{}',
    why: idle,
  },
  {
    file: 'src/cli/wiring/servers.ts',
    in: 'openLooks',
    ours: 'async () => await (await opened?.catch(() => undefined))?.close()',
    theirs: '() => undefined',
    why: idle,
  },
  {
    file: 'src/extensions/portal/text-index.ts',
    in: '#findWord',
    ours: 'read < bytesTogether',
    theirs: 'false',
    why: 'a search gives other work its turn more often, and finds the same',
  },
  {
    file: 'src/release/plan/plan-release.ts',
    in: 'textsOfSegment',
    ours: '[]',
    theirs: '["Stryker was here"]',
    why: 'copySegment asks for renderings with a text',
  },
  {
    file: 'src/cli/catalogue/organisations.ts',
    in: 'merge',
    ours: '{ projects: 0, months: 0, gifts: 0, payouts: 0 }',
    theirs: '{}',
    why: 'what was merged is known before it is told',
  },
  {
    file: 'src/release/sql/segments.ts',
    in: 'summaries',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text.
    ours: 'and segment = any (${segments})',
    theirs: '',
    why: 'a left join leaves out what no segment asked for',
  },
  {
    file: 'src/catalogue/import/csv-rows.ts',
    in: 'mapColumns',
    ours: '[]',
    theirs: '["Stryker was here"]',
    why: 'only the second part is read, which is undefined either way',
  },
  {
    file: 'test/support/store/schema/schema.sql',
    in: 'import_recalled',
    ours: 'c.import_id = undone and',
    theirs: '',
    why: 'tables that the import did not touch are asked too, and have nothing',
  },
  {
    file: 'test/support/store/schema/schema.sql',
    in: 'undo_import',
    ours: 'c.import_id = undone and',
    theirs: '',
    why: 'tables that the import did not touch are asked too, and have nothing',
  },
  {
    file: 'src/http/api/operations/list-projects.ts',
    in: 'createProjectList',
    ours: 'known?.found === undefined || known.againAt <= monotonicMs()',
    theirs: 'true',
    why: 'a total is counted again more often, and is the same',
  },
]

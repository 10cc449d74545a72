/**
 * The arrows between the rooms (docs/architecture.md). Each rule says what to do when it fails.
 * @type {import('dependency-cruiser').IConfiguration}
 */

/** A room may import only these (itself, Node and npm packages aside). */
const room = (name, allowed, comment) => ({
  name: `${name}-imports`,
  severity: 'error',
  comment,
  from: { path: `^src/${name}/` },
  to: { path: '^(src|jobs|test|bench)/', pathNot: `^src/(${[name, ...allowed].join('|')})/` },
})

/** A folder inside publishing may import only these folders and files of publishing. */
const inPublishing = (name, allowed, comment) => ({
  name: `publishing-${name.replace('/', '-')}-imports`,
  severity: 'error',
  comment,
  from: { path: `^src/publishing/${name}/` },
  to: { path: '^src/publishing/', pathNot: `^src/publishing/(${[name, ...allowed].join('|')})(/|\\.ts$)` },
})

/** A package lives in one room. */
const onlyIn = (packages, place, comment) => ({
  name: `${packages.split('|')[0]}-only-in-its-room`,
  severity: 'error',
  comment,
  from: { pathNot: place },
  to: { path: `(^|/)node_modules/(${packages})(/|$)` },
})

/** A folder of the store may import only `database/` and these files of other folders, each for a stated reason. */
const storeFolder = (name, exceptions = {}) => ({
  name: `store-${name}-imports`,
  severity: 'error',
  comment: [
    'One aggregate of the store does not know another: join them in SQL, in the caller, or name the exception here.',
    ...Object.entries(exceptions).map(([file, why]) => `${file}: ${why}`),
  ].join(' '),
  from: { path: `^src/store/${name}/` },
  to: {
    path: '^src/store/[^/]+/',
    pathNot: `^src/store/(${[`${name}/`, 'database/', ...Object.keys(exceptions)].join('|')})`,
  },
})

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Two files that need each other are one idea: merge them or pull out what they share.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      comment: 'Test support is for tests.',
      from: { path: '^(src|jobs)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'src-never-imports-jobs',
      severity: 'error',
      comment: 'Work is in src, its scheduling in jobs. Only the composition root (cli, commands) wires both.',
      from: { path: '^src/', pathNot: '^src/(cli\\.ts|commands/)' },
      to: { path: '^jobs/' },
    },
    {
      name: 'nothing-imports-the-root',
      severity: 'error',
      comment: 'The command line wires the rooms; no room knows it.',
      from: { pathNot: '^src/(cli\\.ts|commands/)' },
      to: { path: '^src/(cli\\.ts|commands/)' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'The import does not resolve: fix the path or install the package.',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-dev-dependencies-in-production',
      severity: 'error',
      comment: 'Move the package to dependencies, or the code to test or bench.',
      from: { path: '^(src|jobs)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'], pathNot: 'node_modules/@types/' },
    },
    room('domain', [], 'The nouns import nothing of ours.'),
    room('xml', ['domain'], 'XML knows errors and text, no nouns of the platform.'),
    room('standard', ['domain', 'xml'], 'The standard is data, read from XML.'),
    room('client', [], 'The client is installed by others: it knows the service by openapi.json only.'),
    {
      name: 'client-imports-nothing',
      severity: 'error',
      comment: 'The client runs in browsers and has no dependency: no package, nothing of Node.js.',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/client/' },
    },
    room('config', ['domain'], 'Configuration is values only.'),
    room('observability', ['domain', 'config'], 'Logs are handed values.'),
    room('embedded-postgres', ['domain'], 'Our own PostgreSQL knows processes and files, no tables.'),
    room('store', ['domain'], 'The store knows rows and nouns, not what is made of them.'),
    storeFolder('database'),
    storeFolder('schema'),
    storeFolder('catalogue', {
      'donations/stated-totals.ts': 'the total that a record states becomes months in the transaction that saves it.',
    }),
    storeFolder('ready-texts'),
    storeFolder('publication', { 'catalogue/progress-reports.ts': 'the entries of feeds and archives are reports.' }),
    storeFolder('runs'),
    storeFolder('access'),
    storeFolder('audit'),
    storeFolder('export'),
    storeFolder('donations'),
    storeFolder('sync'),
    storeFolder('seeding', { 'donations/sandbox-charges.ts': 'demo donations take their charges with them.' }),
    room(
      'wire',
      ['domain', 'xml', 'standard'],
      'The wire format is pure: read/ takes text and returns records, write/ takes nouns and returns text.',
    ),
    room('feeds', ['domain', 'xml', 'standard'], 'Mapping is pure: no store, no clock, no files.'),
    room('validation', ['domain', 'xml', 'standard'], 'Checks are pure: they take elements and return notices.'),
    room(
      'publishing',
      ['domain', 'xml', 'wire', 'feeds', 'validation', 'store'],
      'Publishing joins store, mapping and checks; it knows no queue and no HTTP.',
    ),
    inPublishing('files', [], 'The byte layer (docs/adr/0011) knows bytes and files, not what is published.'),
    {
      name: 'publishing-files-only-for-writers',
      severity: 'error',
      comment: 'Only what writes releases and bulk files works with bytes; readers get a ServedFile.',
      from: { path: '^(src|jobs)/', pathNot: '^src/publishing/(files|folder|release|bulk|tables)/' },
      to: { path: '^src/publishing/files/' },
    },
    inPublishing(
      'folder',
      ['files'],
      'The folder of published files: layout, drafts, lock. It knows no release content.',
    ),
    inPublishing(
      'tables',
      ['files', 'folder'],
      'The rows of tables, and what their files are joined from; it knows no release.',
    ),
    inPublishing('render', ['publication', 'tables'], 'Rendering stores texts of projects; it knows no release.'),
    inPublishing('release/read', ['publication', 'folder'], 'Reading takes a release from disk and changes nothing.'),
    inPublishing(
      'release/plan',
      ['publication', 'release/read', 'files', 'tables'],
      'Planning decides what a release would hold and writes nothing.',
    ),
    inPublishing(
      'release/write',
      ['publication', 'release/plan', 'release/read', 'folder', 'files', 'tables'],
      'Writing turns a plan into files of a draft; what goes live is decided in release/operate.',
    ),
    inPublishing(
      'release/operate',
      ['publication', 'release', 'folder', 'tables'],
      'Operating makes releases live, holds, approves and removes them; bytes are written in release/write.',
    ),
    inPublishing(
      'bulk',
      ['publication', 'render', 'folder', 'files'],
      "The API's bulk files are sets of their own, beside releases.",
    ),
    inPublishing(
      'bucket',
      ['publication', 'release/read', 'folder'],
      'The bucket gets releases as they are on disk; it decides nothing about them.',
    ),
    {
      name: 'publishing-verify-imports',
      severity: 'error',
      comment: 'Verification trusts nothing of ours: it reads over HTTP what a consumer would read.',
      from: { path: '^src/publishing/verify/' },
      to: { path: '^src/', pathNot: '^src/(publishing/verify|domain)/' },
    },
    room(
      'runs',
      ['domain', 'config', 'observability', 'store', 'publishing', 'sync'],
      'Runs are worked on under leases of the ledger, with or without a queue.',
    ),
    room('import', ['domain', 'standard', 'wire', 'store'], 'Import writes records from files into the store.'),
    room(
      'export',
      ['domain', 'donors', 'import', 'store'],
      'Export writes rows as files and puts them into another store.',
    ),
    room('sync', ['domain', 'xml', 'wire', 'import', 'store'], 'Sync mirrors an upstream into the store.'),
    room('registry', ['domain', 'store'], 'The registry is told where files are; it knows nothing of what is in them.'),
    room(
      'donors',
      ['domain', 'store'],
      "Donors' data is encrypted, found and encrypted anew here; only SQL is elsewhere.",
    ),
    room(
      'mail',
      ['domain', 'donors', 'store'],
      'Mail is written and sent after what it tells of is stored; nothing waits for it.',
    ),
    room(
      'payments',
      ['domain', 'donors', 'store'],
      'Payments take money between a gateway and the books of the store; they know neither HTTP nor the queue.',
    ),
    room(
      'portal',
      ['domain', 'xml', 'standard', 'feeds', 'publishing'],
      'Pages are drawn from a release and nothing else: what is not published cannot be shown.',
    ),
    {
      name: 'portal-reads-releases-only',
      severity: 'error',
      comment:
        'The portal reads releases; it publishes nothing and asks no database. Types of another folder are no reason.',
      from: { path: '^src/portal/' },
      to: { path: '^src/publishing/', pathNot: '^src/publishing/release/read/' },
    },
    room(
      'api',
      ['domain', 'xml', 'wire', 'store', 'payments', 'feeds', 'publishing', 'portal', 'observability', 'config'],
      'The API serves what others made.',
    ),
    room(
      'console',
      ['domain', 'store', 'publishing', 'runs', 'portal', 'observability', 'api'],
      'The console shows what it is handed, by the server and templates of others.',
    ),
    {
      name: 'jobs-imports',
      severity: 'error',
      comment: 'Jobs schedule the work of src; they know no HTTP and no command line.',
      from: { path: '^jobs/' },
      to: { path: '^src/(api|console|commands|cli)' },
    },
    onlyIn(
      'pg|pg-copy-streams',
      '^src/(store|embedded-postgres)/',
      'SQL and its driver stay in the store; export a function there.',
    ),
    onlyIn('dataloader', '^src/api/', 'Only reads of the API share statements (docs/adr/0012).'),
    onlyIn('fastify|@fastify', '^src/(api|console)/', 'HTTP stays in the API and the console.'),
    onlyIn('negotiator|fresh|range-parser', '^src/api/', 'Negotiation stays in the API.'),
    onlyIn('@bull-board', '^src/console/', 'The board of the queue is a part of the console.'),
    onlyIn(
      'd3-geo|d3-scale|d3-shape|topojson-client|lru-cache',
      '^src/portal/',
      'Charts and pages are drawn in the portal.',
    ),
    onlyIn('bullmq|ioredis', '^jobs/', 'The queue stays in jobs.'),
    onlyIn('saxes|fast-xml-parser', '^src/xml/', 'XML is taken apart in src/xml only.'),
    onlyIn('xmlbuilder2', '^src/feeds/', 'Envelopes are built in one place.'),
    onlyIn('htmlparser2', '^src/(feeds|domain)/', 'HTML is read as text in src/feeds and measured in src/domain.'),
    onlyIn('@streamparser', '^src/wire/', 'JSON is taken apart in src/wire only.'),
    onlyIn('libxml2-wasm', '^src/validation/', 'The official schema is a check.'),
    onlyIn('hyparquet-writer', '^src/publishing/', 'Parquet files are made where the tables are.'),
    onlyIn('commander|cli-progress', '^src/(cli\\.ts|commands/)', 'Only the command line talks to a terminal.'),
    onlyIn('sanitize-html', '^src/domain/', 'HTML from outside is made safe in one function, when it is stored.'),
    onlyIn('pino', '^src/observability/', 'Loggers are made in one place and handed out.'),
    onlyIn('nodemailer', '^src/mail/', 'Mail is sent in one place.'),
    onlyIn('prom-client', '^src/observability/', 'Metrics are made in one place and handed out.'),
    {
      name: 'processors-are-loaded-when-chosen',
      severity: 'error',
      comment: "A processor's library takes time and memory: import its adapter with import() where it is chosen.",
      from: { path: '^(src|jobs)/' },
      to: { path: '^src/payments/(braintree|stripe)-gateway\\.ts$', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    onlyIn('braintree', '^src/payments/braintree-[a-z-]+\\.ts$', 'A processor is known to its adapter only.'),
    onlyIn('stripe', '^src/payments/stripe-[a-z-]+\\.ts$', 'A processor is known to its adapter only.'),
    onlyIn(
      '@aws-sdk',
      '^src/publishing/bucket/',
      'What speaks S3 is one file, which is loaded when a bucket is configured.',
    ),
    onlyIn('csv-parse', '^src/import/', 'CSV is read in one place.'),
    onlyIn('csv-stringify', '^src/export/', 'Tables for spreadsheets are written in one place.'),
    onlyIn('@node-rs/argon2|@zxcvbn-ts', '^src/api/', 'Passwords are weighed and hashed where they arrive.'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}

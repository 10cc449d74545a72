/**
 * The arrows between the rooms (docs/explanation/architecture.md). Each rule says what to do when it fails.
 * @type {import('dependency-cruiser').IConfiguration}
 */

/** Rooms, lowest first: each may import those before it, and no other. docs/adr/0019-rooms-by-purpose.md */
const rooms = ['kernel', 'platform', 'accounts', 'work', 'iati', 'money', 'catalogue', 'release', 'http']

/** A room may import only these (itself, Node and npm packages aside). */
const room = (name, comment, allowed = rooms.slice(0, rooms.indexOf(name))) => ({
  name: `${name}-imports`,
  severity: 'error',
  comment,
  from: { path: `^src/${name}/` },
  to: { path: '^(src|jobs|test|bench)/', pathNot: `^src/(${[name, ...allowed].join('|')})/` },
})

/** A folder of a room may import only these folders and files of that room. */
const folder = (name, allowed, comment) => ({
  name: `${name.replaceAll('/', '-')}-imports`,
  severity: 'error',
  comment,
  from: { path: `^src/${name}/` },
  to: {
    path: `^src/${name.split('/')[0]}/`,
    pathNot: `^src/(${[name, ...allowed.map((one) => `${name.split('/')[0]}/${one}`)].join('|')})(/|\\.ts$)`,
  },
})

/** A package lives in one room. */
const onlyIn = (packages, place, comment) => ({
  name: `${packages.split('|')[0]}-only-in-its-room`,
  severity: 'error',
  comment,
  from: { pathNot: place },
  to: { path: `(^|/)node_modules/(${packages})(/|$)` },
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
      comment:
        'Work is in src, its scheduling in jobs. Only the composition root (cli) and rows of extensions know both.',
      from: { path: '^src/', pathNot: '^src/(cli(\\.ts|/)|extensions/[^/]+/extension\\.ts$)' },
      to: { path: '^jobs/' },
    },
    {
      name: 'nothing-imports-the-root',
      severity: 'error',
      comment: 'The command line wires the rooms; no room knows it.',
      from: { pathNot: '^src/(cli(\\.ts|/)|extensions(\\.ts|/))' },
      to: { path: '^src/cli(\\.ts|/)' },
    },
    {
      name: 'core-imports-no-extension',
      severity: 'error',
      comment:
        'An extension can be deleted with its line: the core reads the list, in the root and in the table of work.',
      from: { path: '^(src|jobs)/', pathNot: '^src/extensions(\\.ts$|/)' },
      to: { path: '^src/extensions/' },
    },
    {
      name: 'the-list-of-extensions-is-read-by-roots',
      severity: 'error',
      comment: 'What an extension adds is handed on by the composition root and the table of work.',
      from: { path: '^(src|jobs)/', pathNot: '^(src/cli/|jobs/work\\.ts$)' },
      to: { path: '^src/extensions\\.ts$' },
    },
    {
      name: 'extensions-import-no-other',
      severity: 'error',
      comment: 'Each can be deleted alone, but sources with the console.',
      from: { path: '^src/extensions/(?!console/)([^/]+)/' },
      to: { path: '^src/extensions/', pathNot: '^src/extensions/$1/' },
    },
    {
      name: 'console-imports-sources-alone',
      severity: 'error',
      comment: 'A file that was sent becomes a source there.',
      from: { path: '^src/extensions/console/' },
      to: { path: '^src/extensions/', pathNot: '^src/extensions/(console|sources)/' },
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
      comment:
        'Move the package to dependencies, make it an optional peer (own-package.ts), or the code to test or bench.',
      from: { path: '^(src|jobs)/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only', 'npm', 'npm-peer'],
        pathNot: 'node_modules/@types/',
      },
    },
    room('kernel', 'Values, errors and XML: everybody may use them, so they know nobody.'),
    room(
      'platform',
      'Configuration, connections, processes, logs and mail: what every service has, whatever it is for.',
    ),
    room('accounts', 'Who may call, with what key, and who did what.'),
    room('work', 'Runs are entered, leased, taken over and ended here, whatever their kind.'),
    room(
      'iati',
      'The standard, the mapping and the checks are pure: no database, no clock, no files but those of the standard.',
      ['kernel'],
    ),
    room('money', 'A donation from its request to its receipt: rules, processors and SQL in one room.'),
    room('catalogue', 'Projects, organisations and reports: SQL, wire format, import, export and sync.'),
    room('release', 'What is published reads totals by SQL of its own; it never needs the code that moves money.', [
      'kernel',
      'platform',
      'work',
      'iati',
      'catalogue',
    ]),
    room('http', 'HTTP serves what the rooms made: the API and the pages that need no portal.'),
    room('demo', 'Invented data goes into a store by SQL; nothing but the command line asks for it.', [
      'kernel',
      'platform',
      'iati',
      'money',
      'catalogue',
    ]),
    room('client', 'The client is installed by others: it knows the service by openapi.json only.', []),
    {
      name: 'client-imports-nothing',
      severity: 'error',
      comment: 'The client runs in browsers and has no dependency: no package, nothing of Node.js.',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/client/' },
    },
    folder('platform/config', [], 'Configuration is values only.'),
    folder('platform/observability', ['config'], 'Logs and metrics are handed values.'),
    folder('platform/embedded-postgres', [], 'Our own PostgreSQL knows processes and files, no tables.'),
    folder(
      'platform/database',
      ['files'],
      'Connections, transactions and migrations; statements of a room are in its sql/.',
    ),
    folder('platform/outgoing', [], 'Others are called with one client; what is said to them comes from the rooms.'),
    folder('platform/mail', [], 'Mail is written and sent; what it says comes from the rooms.'),
    folder('accounts/sql', [], 'SQL of accounts, keys, tokens and the audit trail.'),
    folder('work/sql', ['run', 'schedule'], 'SQL of the ledger: it knows runs and schedules as values.'),
    folder('money/sql', [], 'SQL of the books; the rules are beside it.'),
    folder(
      'money/gateways',
      ['sql/sandbox-charges'],
      'A gateway is a port and its adapters; it knows no books. The sandbox keeps its charges in the database.',
    ),
    folder('catalogue/sql', [], 'SQL of projects, organisations and reports.'),
    folder(
      'catalogue/wire',
      [],
      'The wire format is pure: read/ takes text and returns records, write/ takes nouns and returns text.',
    ),
    folder('catalogue/import', ['sql', 'wire'], 'Import writes records from files into the store.'),
    folder('catalogue/export', ['sql', 'import'], 'Export writes rows as files and puts them into another store.'),
    folder('catalogue/sync', ['sql', 'wire', 'import'], 'Sync mirrors an upstream into the store.'),
    folder('release/sql', [], 'SQL of renderings, segments and releases.'),
    folder('release/bytes', [], 'The byte layer (docs/adr/0011) knows bytes and files, not what is published.'),
    {
      name: 'release-bytes-only-for-writers',
      severity: 'error',
      comment: 'Only what writes releases and bulk files works with bytes; readers get a ServedFile.',
      from: { path: '^(src|jobs)/', pathNot: '^src/(release|extensions/bulk)/' },
      to: { path: '^src/release/bytes/' },
    },
    folder('release/folder', ['bytes'], 'The folder of published files: layout, drafts. It knows no release content.'),
    folder(
      'release/tables',
      ['bytes', 'folder', 'sql', 'read/activity-entry'],
      'The rows of tables, and what their files are joined from; of a release it knows what its index says of an activity.',
    ),
    folder(
      'release/render',
      ['publication', 'tables', 'sql', 'read/activity-entry'],
      'Rendering stores texts of projects; of a release it knows what its index says of an activity.',
    ),
    folder('release/read', ['publication', 'folder', 'sql'], 'Reading takes a release from disk and changes nothing.'),
    folder(
      'release/plan',
      ['publication', 'read', 'bytes', 'tables', 'sql'],
      'Planning decides what a release would hold and writes nothing.',
    ),
    folder(
      'release/write',
      ['publication', 'plan', 'read', 'folder', 'bytes', 'tables', 'sql'],
      'Writing turns a plan into files of a draft; what goes live is decided in release/operate.',
    ),
    folder(
      'release/operate',
      ['publication', 'plan', 'read', 'write', 'folder', 'tables', 'sql'],
      'Operating makes releases live, holds, approves and removes them; bytes are written in release/write.',
    ),
    {
      name: 'verify-imports',
      severity: 'error',
      comment:
        'Verification trusts nothing of ours: it reads over HTTP what a consumer would read, with the one client.',
      from: { path: '^src/extensions/verify/verify-' },
      to: { path: '^src/', pathNot: '^src/(extensions/verify|kernel|platform/outgoing)/' },
    },
    {
      name: 'descriptions-are-pure',
      severity: 'error',
      comment: 'The same release is described by the same bytes: no database, no clock, no files.',
      from: { path: '^src/extensions/descriptions/', pathNot: '/extension\\.ts$' },
      to: {
        path: '^src/',
        pathNot: '^src/(extensions/descriptions|kernel|iati)/|^src/release/(plan/added-files|sql/renderings)\\.ts$',
      },
    },
    folder('http/pages', [], 'What all pages for people have in common knows no route.'),
    {
      name: 'portal-reads-releases-only',
      severity: 'error',
      comment:
        'The portal reads releases; it publishes nothing and asks no database. Types of another folder are no reason.',
      from: { path: '^src/(http/pages|extensions/portal)/', pathNot: '/(extension|portal-routes)\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(http/pages|extensions/portal|kernel|iati|release/read)/' },
    },
    {
      name: 'console-moves-no-money',
      severity: 'error',
      comment: 'The console reads the books and moves no money: that is done by what it is handed.',
      from: { path: '^src/extensions/console/', pathNot: '/console-deps\\.ts$' },
      to: { path: '^src/(money/(?!sql/)|iati/)' },
    },
    {
      name: 'jobs-imports',
      severity: 'error',
      comment: 'Jobs schedule the work of src; they know no HTTP and no command line.',
      from: { path: '^jobs/' },
      to: { path: '^src/(http|cli|demo)' },
    },
    {
      name: 'demo-for-the-command-line',
      severity: 'error',
      comment: 'Invented data is put in by a command; nothing else may know of it.',
      from: { path: '^(src|jobs)/', pathNot: '^src/(demo|cli)/' },
      to: { path: '^src/demo/' },
    },
    onlyIn(
      'pg',
      '^src/platform/(database|embedded-postgres)/',
      'The driver stays with the connections; export a function there.',
    ),
    onlyIn('pg-copy-streams', '^src/platform/database/', 'COPY stays with the connections; export a function there.'),
    onlyIn('dataloader', '^src/http/api/', 'Only reads of the API share statements (docs/adr/0012).'),
    onlyIn(
      'fastify|@fastify',
      '^src/(http/api|extensions/(console|portal))/',
      'HTTP stays in the API, the portal and the console.',
    ),
    onlyIn('negotiator|fresh|range-parser', '^src/http/api/', 'Negotiation stays in the API.'),
    onlyIn('lru-cache', '^src/extensions/portal/', 'Pages are kept in the portal.'),
    onlyIn('bullmq|ioredis', '^jobs/', 'The queue stays in jobs.'),
    onlyIn('saxes|fast-xml-parser', '^src/kernel/xml/', 'XML is taken apart in one folder only.'),
    onlyIn('xmlbuilder2', '^src/iati/', 'Envelopes are built in one place.'),
    onlyIn('htmlparser2', '^src/(iati|kernel)/', 'HTML is read as text in src/iati and measured in src/kernel.'),
    onlyIn('@streamparser', '^src/catalogue/wire/', 'JSON is taken apart in the wire format only.'),
    onlyIn('libxml2-wasm', '^src/iati/validation/', 'The official schema is a check.'),
    onlyIn('hyparquet-writer', '^src/release/', 'Parquet files are made where the tables are.'),
    onlyIn('commander|cli-progress', '^src/(cli|extensions)(\\.ts|/)', 'Only commands talk to a terminal.'),
    onlyIn('sanitize-html', '^src/kernel/', 'HTML from outside is made safe in one function, when it is stored.'),
    onlyIn('pino', '^src/platform/', 'Loggers are made in one place and handed out.'),
    onlyIn('nodemailer', '^src/platform/', 'Mail is sent in one place.'),
    onlyIn('pdfkit', '^src/platform/', 'PDF is written in one place.'),
    onlyIn(
      'undici',
      '^src/platform/outgoing/',
      'Others are called with one client; it is handed in where limits differ.',
    ),
    onlyIn('prom-client', '^src/platform/', 'Metrics are made in one place and handed out.'),
    {
      name: 'processors-are-loaded-when-chosen',
      severity: 'error',
      comment: "A processor's library takes time and memory: import its adapter with import() where it is chosen.",
      from: { path: '^(src|jobs)/' },
      to: {
        path: '^src/extensions/(braintree|stripe)/(braintree|stripe)-gateway\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    onlyIn('braintree', '^src/extensions/braintree/', 'A processor is known to its adapter only.'),
    onlyIn('stripe', '^src/extensions/stripe/', 'A processor is known to its adapter only.'),
    onlyIn(
      '@aws-sdk',
      '^src/extensions/(bucket|sources)/',
      'What speaks S3 writes the bucket or reads a source; the library is loaded when one is used.',
    ),
    onlyIn(
      'ssh2',
      '^src/extensions/sources/',
      'SFTP is read by sources alone; the library is loaded when one is used.',
    ),
    onlyIn('@node-rs/argon2|@zxcvbn-ts', '^src/accounts/', 'Passwords are weighed and hashed in one place.'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}

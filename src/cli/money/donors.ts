import { type Command, Option } from 'commander'
import { ofExtensions } from '../../extensions.js'
import { ServiceError } from '../../kernel/errors.js'
import { roundToCurrency } from '../../kernel/money.js'
import { missingKeys } from '../../money/donors/donor-needs.js'
import type { DonorVault } from '../../money/donors/donor-vault.js'
import type { DonorRecord } from '../../money/donors/find-donor.js'
import { rekeyDonors } from '../../money/donors/rekey-donors.js'
import { rekeySubscriptions, type SubscriptionRecord, subscriptionsOf } from '../../money/donors/subscriptions.js'
import { yearStatements } from '../../money/donors/year-statements.js'
import { statementFor } from '../../money/receipts/mail-notices.js'
import { toPdf } from '../../money/receipts/receipt-pdf.js'
import { eraseDonor } from '../../money/sql/donors.js'
import { eraseSubscriptionsOf } from '../../money/sql/subscriptions.js'
import { addCommand, addLongCommand, type CommandLine, wholeNumber } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { donorFields, openDonorVault } from '../wiring/donor-vault.js'
import { discloseDonations } from '../wiring/money-actions.js'
import type { Runtime } from '../wiring/runtime.js'
import { writePrivately } from '../wiring/write-privately.js'

/** `giving donors`. */
export function registerDonors(program: Command, { storeAction }: CommandLine): void {
  const donors = program.command('donors').description('people who gave')
  const email = ['--email <email>', 'e-mail address'] as const
  addCommand(donors, 'show', 'show what is known of a person; exit code 1 when nobody has this e-mail')
    .requiredOption(...email)
    .action(storeAction(donorFields, show))
  donors
    .command('export')
    .description('print what is known of a person as JSON, to hand it out; exit code 1 when nobody has this e-mail')
    .requiredOption(...email)
    .addOption(new Option('--json').default(true).hideHelp())
    .action(storeAction(donorFields, show))
  addCommand(
    donors,
    'erase',
    'erase what is known of a person; no total changes; exit code 1 when nobody has this e-mail',
  )
    .requiredOption(...email)
    .action(storeAction(donorFields, erase))
  addCommand(donors, 'statements', 'mail each donor a statement of a year, once; without --mail only count them')
    .argument('<year>', 'the year, in UTC', wholeNumber)
    .option('--mail', 'mail the statements, within minutes', false)
    .option('--email <email>', 'show the statement of this person, and mail nothing')
    .option('--pdf <file>', 'write that statement to FILE as PDF, to print')
    .action(storeAction(statementFields, statements))
  addLongCommand(
    donors,
    'rekey',
    'encrypt every donor with the first of DONOR_KEYS; exit code 1 when some cannot be read',
  ).action(storeAction(donorFields, rekey))
}

const statementFields = [...donorFields, 'mail', 'language'] as const

type StatementOptions = { readonly mail: boolean; readonly email?: string; readonly pdf?: string }

/** Shows the statement of one person as it would be mailed, or writes it as PDF. */
async function previewStatement(
  runtime: Runtime,
  output: Output,
  { year, email, pdf }: { readonly year: number; readonly email: string; readonly pdf: string | undefined },
): Promise<number> {
  const { config, store } = runtime
  const donors = await openDonorVault(runtime, { makesKey: false })
  const choice = { language: config.language, operatorsDir: config.mail?.templatesDir }
  const source = { store, donors, choice, platform: config.reportingOrg.name }
  const statement = await statementFor(source, { email, year })
  await auditOperator(runtime, store.db, { action: 'donor-disclosed', details: { year } })
  const { subject, text, language } = statement
  if (pdf === undefined) return output.result({ year, subject, text, language }, () => [subject, '', text])
  await writePrivately(pdf, await toPdf(source, { ...statement, at: new Date(Date.UTC(year, 11, 31)) }))
  return output.result({ year, file: pdf, language }, () => `the statement is in ${pdf}`)
}

/** Tells how many donors a statement of a year would go to, or makes them due. */
async function statements(
  runtime: Runtime,
  output: Output,
  year: number,
  { mail, email, pdf }: StatementOptions,
): Promise<number> {
  if (email !== undefined && !mail) return await previewStatement(runtime, output, { year, email, pdf })
  if (email !== undefined || pdf !== undefined)
    throw new ServiceError('request-invalid', 'expected --email without --mail; --pdf needs --email')
  const { config, store, clock } = runtime
  if (mail && !config.mail) throw new ServiceError('request-invalid', 'nothing is mailed: SMTP_URL is not set')
  if (year < 2000 || year > clock().getUTCFullYear()) {
    throw new ServiceError('request-invalid', `expected a year from 2000 to ${clock().getUTCFullYear()}, got ${year}`)
  }
  const donors = await openDonorVault(runtime, { makesKey: false })
  const result = await yearStatements({ store, donors }, year, mail ? clock() : undefined)
  const { queued, unreadable } = result
  if (queued > 0) {
    await auditOperator(runtime, store.db, { action: 'statements-queued', details: { year, statements: queued } })
  }
  if (unreadable > 0) output.note(`the donors of ${unreadable} donations cannot be read: their key is missing`)
  return output.result({ year, ...result }, () => [
    `${year}: ${result.donors} donors of ${result.donations} donations`,
    mail ? `${queued} statements will be mailed; the others were before` : 'nothing was mailed: add --mail',
  ])
}

type Person = { readonly email: string }

async function show(runtime: Runtime, output: Output, { email }: Person): Promise<number> {
  const { donations, subscriptions } = await disclose(runtime, output, email)
  const lines = [...donations.flatMap(describe), ...subscriptions.map(describeSubscription)]
  return output.result({ donations, subscriptions }, () => (lines.length > 0 ? lines : nobody), {
    code: lines.length > 0 ? 0 : 1,
  })
}

const nobody = 'nobody with this e-mail is known'

/** Looks a person up, and enters into the audit trail that it was done. */
async function disclose(runtime: Runtime, output: Output, email: string) {
  const vault = await openDonorVault(runtime, { makesKey: false })
  const { db } = runtime.store
  const donations = await discloseDonations(runtime, vault, email)
  const subscriptions = await subscriptionsOf(db, vault, email)
  if (donations.length === 0 && subscriptions.length > 0) {
    await auditOperator(runtime, db, { action: 'donor-disclosed', details: { donations: 0 } })
  }
  await noteMissingKeys(runtime, output, vault)
  return { donations, subscriptions }
}

async function erase(runtime: Runtime, output: Output, { email }: Person): Promise<number> {
  const vault = await openDonorVault(runtime, { makesKey: false })
  const hashes = vault.lookupHashes(email)
  const { donations, subscriptions } = await runtime.store.transaction(async (db) => {
    const erased = {
      donations: await eraseDonor(db, { hashes, email }),
      subscriptions: await eraseSubscriptionsOf(db, hashes),
    }
    if (erased.donations + erased.subscriptions > 0) {
      await auditOperator(runtime, db, { action: 'donor-erased', details: { donations: erased.donations } })
    }
    return erased
  })
  const isKnown = donations + subscriptions > 0
  await noteMissingKeys(runtime, output, vault)
  return output.result(
    { donations, subscriptions },
    () =>
      isKnown
        ? `erased what was known of this person from ${donations} donations and ${subscriptions} subscriptions; no total has changed`
        : nobody,
    { code: isKnown ? 0 : 1 },
  )
}

/** A person may also be among those that cannot be read; whether there are such. */
async function noteMissingKeys({ store }: Runtime, output: Output, vault: DonorVault): Promise<boolean> {
  const sentences = await missingKeys(store.db, vault)
  for (const sentence of sentences) output.note(sentence)
  return sentences.length > 0
}

async function rekey(runtime: Runtime, output: Output): Promise<number> {
  const { store, signal } = runtime
  const vault = await openDonorVault(runtime)
  const subscriptions = await rekeySubscriptions(store, vault, signal)
  for (const rekeyOthers of ofExtensions('rekey')) await rekeyOthers(runtime)
  const rekeyed = await output.withProgress((update) =>
    rekeyDonors(store, vault, { signal, onProgress: (done, total) => update('donors', done, total) }),
  )
  const { changed, encrypted } = rekeyed
  const details = { key: vault.currentId, donors: rekeyed.rekeyed + encrypted }
  await auditOperator(runtime, store.db, { action: 'donors-rekeyed', details })
  const areUnreadable = await noteMissingKeys(runtime, output, vault)
  for (const id of changed) output.note(`the donor of donation ${id} is not what was encrypted, and was left as it is`)
  return output.result(
    { key: vault.currentId, ...rekeyed, subscriptions },
    () => [
      `every donor that can be read is encrypted with the key "${vault.currentId}"`,
      `from other keys: ${rekeyed.rekeyed}, from clear text: ${encrypted}, subscriptions to reports: ${subscriptions}`,
    ],
    { code: changed.length > 0 || areUnreadable ? 1 : 0 },
  )
}

function describeSubscription({ projectId, confirmedAt, email }: SubscriptionRecord): string {
  return `reports of project ${projectId} by mail to ${email}, ${confirmedAt ? `since ${confirmedAt.toISOString()}` : 'not confirmed'}`
}

function describe({ donation, email, details }: DonorRecord): string[] {
  const { id, projectId, status, receivedAt, amount, currency, receiptNumber } = donation
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['donation', `${id}, ${receivedAt?.toISOString() ?? ''}, ${status}`],
    ['project', `${projectId}`],
    ['amount', `${roundToCurrency(amount, currency)} ${currency}`],
    ['receipt', receiptNumber],
    ['e-mail', email],
    ...Object.entries(details),
  ]
  return labelled(facts, 21)
}

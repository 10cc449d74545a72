import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pino from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { receipts } from '../../../../jobs/mails.js'
import type { JobCall } from '../../../../jobs/queue-worker.js'
import type { WorkDeps } from '../../../../jobs/work-row.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import type { DonorMailing } from '../../../../src/money/receipts/mail-donors.js'
import { mailNotices } from '../../../../src/money/receipts/mail-notices.js'
import { checkReceiptTemplate, mailDueReceipts } from '../../../../src/money/receipts/mail-receipts.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { countUnmailed, requeueReceiptMail } from '../../../../src/money/sql/receipt-mails.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { readConfig } from '../../../../src/platform/config/config.js'
import { loadTemplate, type TemplateChoice } from '../../../../src/platform/mail/load-template.js'
import { SmtpSender } from '../../../../src/platform/mail/smtp.js'
import { testApi } from '../../../support/api/api.js'
import { forkStripped } from '../../../support/commands/cli.js'
import { runCommandLine } from '../../../support/commands/command-line.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  testDonors,
  testPayments,
} from '../../../support/money/donations.js'
import { readPdf } from '../../../support/money/read-pdf.js'
import { type MailServer, readMail, startMailServer } from '../../../support/servers/mail-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const never = new AbortController().signal
const choice = { language: 'en', operatorsDir: undefined }

describe('receipts by mail', async () => {
  const { store, url } = await testDatabase()
  const time = { now: new Date() }
  const clock = () => time.now
  const payments = testPayments(store, { clock, mailsReceipts: true })

  const keyId = await insertDonationTargets(store.db, [2045])
  beforeEach(async () => {
    time.now = new Date('2026-11-21T09:15:30Z')
    await store.db.query('delete from receipt_mail')
    await store.db.query('delete from donor_mail')
  })

  const donate = (changes: Record<string, unknown> = {}, payer: Record<string, unknown> = {}, with_ = payments) =>
    submitDonation(with_, { account, keyId, requestId: randomUUID() }, donationRequest(changes, payer))
  const warnings: string[] = []
  const mailing = (smtpUrl: string, changes: Partial<DonorMailing> = {}): DonorMailing => ({
    store,
    donors: testDonors,
    sender: new SmtpSender(smtpUrl, 'Giving Platform <receipts@giving.example>'),
    choice,
    platform: 'Giving Platform',
    baseUrl: 'https://giving.example',
    clock,
    warn: (details, message) => void warnings.push(`${message} ${JSON.stringify(details)}`),
    ...changes,
  })
  const mail = async (smtpUrl: string, changes: Partial<DonorMailing> = {}) =>
    await mailDueReceipts(mailing(smtpUrl, changes), never)
  const state = async () => {
    const { rows } = await store.db.query('select state, tries, reply from receipt_mail order by donation_id')
    return rows
  }
  const later = (minutes: number) => {
    time.now = new Date(time.now.getTime() + minutes * 60_000)
  }

  it('are followed by a message about each refund, in the language of the donor', async () => {
    const server = await startMailServer()
    const notices = () => mailNotices(mailing(server.url), never)
    const told = () => readMail(server.taken.at(-1) as never)
    await donate({ email: 'lina@example.org', addon: { amount: '2.50' } })
    const { rows } = await store.db.query<{ id: number; number: string }>(
      'select id, receipt_number as number from donation order by id desc limit 1',
    )
    const [{ id, number } = { id: 0, number: '' }] = rows
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: '15' as Decimal })
    expect(await notices()).toEqual({ sent: 1, later: 0, ended: 0 })
    expect(told().headers).toContain('Subject: $15.00 of your donation were given back')
    expect(told().text).toContain('$15.00 were given back of your donation of $42.50 to "Wells for Tara", made')
    expect(told().text).toContain(`Your donation is now $25.00. Please keep this message with the receipt ${number}.`)
    expect(told().text).not.toContain('void')
    expect(told().text).toContain('This was a test through "sandbox"')
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: undefined })
    expect(await notices()).toMatchObject({ sent: 1 })
    expect(told().text).toContain(`The receipt ${number} is void.`)
    expect(told().text).not.toContain('now')
    expect(await notices()).toEqual({ sent: 0, later: 0, ended: 0 })
    // A donor who disputes knows; one who was erased is not told.
    await donate({ language: 'fr' })
    const other = await store.db.query<{ id: number }>('select max(id) as id from donation')
    const donationId = other.rows[0]?.id ?? 0
    await refundDonation(payments, { donationId, kind: 'refund', amount: '10' as Decimal })
    expect(await notices()).toMatchObject({ sent: 1 })
    expect(told().text).toContain('ont été remboursés')
    await refundDonation(payments, { donationId, kind: 'chargeback', amount: '5' as Decimal })
    expect(await notices()).toMatchObject({ sent: 0, ended: 0 })
    await refundDonation(payments, { donationId, kind: 'refund', amount: undefined })
    await store.db.query('delete from donor where donation_id = $1', [donationId])
    expect(await notices()).toMatchObject({ sent: 0, ended: 1 })
  })

  it('are not mailed once all was given back', async () => {
    const server = await startMailServer()
    await donate({ email: 'lina@example.org' })
    const { rows } = await store.db.query<{ id: number }>('select max(id) as id from donation')
    await refundDonation(payments, { donationId: rows[0]?.id ?? 0, kind: 'refund', amount: undefined })
    expect(await mail(server.url)).toMatchObject({ sent: 0 })
    expect([server.taken, await state()]).toMatchObject([[], [{ state: 'dropped' }]])
  })

  it('are summed up once a year for each donor, without tips and what was given back', async () => {
    const server = await startMailServer()
    await store.db.query("delete from donation_month where source = 'local'")
    await store.db.query('delete from donation')
    const environment = {
      ...{ DATABASE_URL: url, LOG_LEVEL: 'silent', SMTP_URL: server.url, MAIL_FROM: 'receipts@giving.example' },
      DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    }
    const statements = (...args: string[]) => runCommandLine(['donors', 'statements', ...args], environment)
    const given = [
      ['2025-12-31T23:59:59Z', 'lina@example.org', '11.00'],
      ['2026-01-01T00:00:00Z', 'lina@example.org', '12.00'],
      ['2026-03-05T08:00:00Z', 'Lina@Example.org', '40.00'],
      ['2026-06-01T08:00:00Z', 'kim@example.org', '20.00'],
      ['2026-07-01T08:00:00Z', 'gone@example.org', '30.00'],
    ] as const
    for (const [at, email, amount] of given) {
      time.now = new Date(at)
      await donate({ email, amount, addon: { amount: '2.50' } })
    }
    const refund = async (amount: string, back?: string) => {
      const { rows } = await store.db.query<{ id: number }>('select id from donation where amount = $1', [amount])
      const part = back as Decimal | undefined
      await refundDonation(payments, { donationId: rows[0]?.id ?? 0, kind: 'refund', amount: part })
    }
    await refund('40.00', '15')
    await refund('30.00')
    await store.db.query('delete from donor_mail')
    expect((await statements('2026')).stdout).toBe('2026: 2 donors of 3 donations\nnothing was mailed: add --mail\n')
    expect((await statements('2025')).stdout).toMatch(/^2025: 1 donors of 1 donations\n/)
    expect((await statements('2026', '--mail')).stdout).toContain('2 statements will be mailed')
    expect((await statements('2026', '--mail')).stdout).toContain('0 statements will be mailed')
    expect(await statements('1999')).toMatchObject({ code: 2 })
    time.now = new Date(Date.now() + 60_000)
    expect(await mailNotices(mailing(server.url), never)).toEqual({ sent: 2, later: 0, ended: 0 })
    expect(server.taken).toHaveLength(2)
    const lina = readMail(server.taken[0] as never).text
    expect(lina).toMatch(
      /\nJanuary 1, 2026: \$12\.00 \(R\d+-GC\d+-T1\)\r\nMarch 5, 2026: \$25\.00 \(R\d+-GC\d+-T1\)\r\n/,
    )
    expect(lina).toContain('Together: $37.00')
    expect(lina).not.toContain('11.00')
    expect(await mailNotices(mailing(server.url), never)).toMatchObject({ sent: 0 })
  })

  it.each(['sandbox', 'stripe-sandbox', 'braintree-sandbox'])('of %s say that no money was moved', async (gateway) => {
    const server = await startMailServer()
    const { receiptNumber } = await donate({ email: 'lina@example.org' })
    await store.db.query('update donation set gateway = $1 where receipt_number = $2', [gateway, receiptNumber])
    expect(await mail(server.url)).toMatchObject({ sent: 1 })
    const { text, html } = readMail(server.taken[0] as never)
    expect(html).toContain('no money was moved')
    expect(text).toContain(`This was a test through "${gateway}": no money was moved.`)
  })

  it('are there as PDF, at the address in the message and from the command, in the language of the donor', async () => {
    const server = await startMailServer()
    const { app } = await testApi(store, { payments, clock })
    const pdfOf = async (message: string) => {
      const [, link = ''] = / https:\/\/giving\.example(\/gifts\/receipts\/[0-9a-z]{40})\r/.exec(message) ?? []
      const answer = await app.inject(link)
      return { link, answer, ...readPdf(answer.rawPayload) }
    }
    const request = donationRequest({ language: 'fr', addon: { amount: 2.5 } })
    const payer = { firstname: 'Łucja أحمد علي', lastname: 'Οδυσσέας' }
    const { receiptNumber } = await submitDonation(
      payments,
      { account, keyId, requestId: randomUUID() },
      { ...request, payer },
    )
    await mail(server.url)
    const message = readMail(server.taken[0] as never).text
    expect(message).toContain('Le reçu en PDF\u202f: https://giving.example/gifts/receipts/')
    const { link, answer, texts, plain } = await pdfOf(message)
    expect(answer.headers).toMatchObject({
      ...{ 'content-type': 'application/pdf', 'cache-control': 'no-store', 'content-language': 'fr' },
      'content-disposition': `inline; filename="${receiptNumber}.pdf"`,
    })
    expect(plain).toMatch(/\/Lang \(fr\)/)
    const words = texts.join('\n').replace(/[\u00a0\u202f]/g, ' ')
    expect(texts[0]).toBe(`Reçu ${receiptNumber}`)
    // The word that is read first stands on the right.
    expect(words).toMatch(/De : Łucja\n.{3}\n.{4}\nΟδυσσέας\nPour : « Wells for Tara »\nDon : 40,00 \$US\n/)
    expect(words).toContain('Montant débité : 42,50 $US\nDate : 21 novembre 2026')
    expect(words).toContain("Ceci était un essai avec « sandbox » : aucun paiement n'a eu lieu.")
    expect((await app.inject(link)).rawPayload.equals(answer.rawPayload)).toBe(true)
    for (const wrong of [`${link.slice(0, -1)}${link.endsWith('0') ? '1' : '0'}`, '/gifts/receipts/00000001']) {
      expect((await app.inject(wrong)).statusCode).toBe(404)
    }
    const { rows } = await store.db.query<{ id: number }>('select max(id) as id from donation')
    const [folder, id] = [await temporaryFolder(), rows[0]?.id ?? 0]
    const environment = { DATABASE_URL: url, DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` }
    const command = (file: string, more: Record<string, string> = {}) =>
      runCommandLine(['donations', 'receipt', String(id), '--pdf', path.join(folder, file)], {
        ...environment,
        ...more,
      })
    expect(await command('a.pdf')).toMatchObject({ code: 0 })
    expect(readPdf(await readFile(path.join(folder, 'a.pdf'))).texts).toEqual(
      texts.map((text) => text.replace('<Platform>', 'Platform')),
    )
    expect(await command('a.pdf')).toMatchObject({ code: 2, stderr: expect.stringContaining('must not exist yet') })
    // What has become of the donation since then.
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: '15' as Decimal })
    const after = (await pdfOf(message)).texts.join('\n').replace(/[\u00a0\u202f]/g, ' ')
    expect(after).toContain('Remboursé depuis : 15,00 $US\nReste du don : 25,00 $US')
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: undefined })
    expect((await app.inject(link)).statusCode).toBe(404)
    expect(await command('b.pdf')).toMatchObject({ code: 2, stderr: expect.stringContaining('all was given back') })
  })

  it('as PDF in Arabic are written from right to left', async () => {
    const server = await startMailServer()
    const { app } = await testApi(store, { store, payments, clock })
    const request = donationRequest({ language: 'ar', addon: { amount: 2.5 } })
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
    await mail(server.url)
    const { text, html } = readMail(server.taken[0] as never)
    expect(html).toContain('<html lang="ar" dir="rtl">')
    const [, link = ''] = / https:\/\/giving\.example(\/gifts\/receipts\/[0-9a-z]{40})\r?\n/.exec(text) ?? []
    const { texts, lefts, plain } = readPdf((await app.inject(link)).rawPayload)
    expect(plain).toMatch(/\/Lang \(ar\)/)
    expect(lefts.length).toBe(texts.length)
    const leftOf = (word: string) => lefts[texts.indexOf(word)] ?? Number.NaN
    // Glyphs are drawn from the left.
    expect(leftOf(':خيراتلا')).toBeGreaterThan(leftOf('21'))
    expect(leftOf('21')).toBeGreaterThan(leftOf('2026'))
    expect(leftOf('«Wells for Tara»')).toBeGreaterThan(300)
  })

  it('as PDF say no test where money was moved, and need a font that has their letters', async () => {
    const file = path.join(await temporaryFolder(), 'receipt.pdf')
    const environment = { DATABASE_URL: url, DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` }
    const write = async (name: string) => {
      await submitDonation(
        payments,
        { account, keyId, requestId: randomUUID() },
        { ...donationRequest(), payer: { firstname: name, lastname: 'O' } },
      )
      const { rows } = await store.db.query<{ id: number }>(
        `update donation set gateway = 'stripe' where id = (select max(id) from donation) returning id`,
      )
      return await runCommandLine(['donations', 'receipt', String(rows[0]?.id), '--pdf', file], environment)
    }
    expect(await write('李')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/lacks 1 letters .* receipt\.ttf/),
    })
    expect(await write('Lina')).toMatchObject({ code: 0 })
    expect(readPdf(await readFile(file)).texts.join('\n')).not.toContain('no money')
  })

  it('of a processor that moves money do not', async () => {
    const server = await startMailServer()
    const { receiptNumber } = await donate({ email: 'lina@example.org' })
    await store.db.query(`update donation set gateway = 'stripe' where receipt_number = $1`, [receiptNumber])
    expect(await mail(server.url)).toMatchObject({ sent: 1 })
    expect(readMail(server.taken[0] as never).text).not.toContain('no money was moved')
  })

  it('tell the donor what was given, in text and HTML, once', async () => {
    const server = await startMailServer()
    const { receiptNumber } = await donate({ addon: { amount: 2.5 }, email: 'lina@example.org' })
    expect(await mail(server.url)).toEqual({ sent: 1, later: 0, ended: 0 })
    expect(await mail(server.url)).toEqual({ sent: 0, later: 0, ended: 0 })
    const [taken] = server.taken
    expect(server.taken).toHaveLength(1)
    expect(taken?.to).toEqual(['lina@example.org'])
    const { headers, text, html } = readMail(taken as never)
    expect(headers).toContain(`Subject: Receipt ${receiptNumber} for your donation\r\n`)
    expect(headers).toContain('From: Giving Platform <receipts@giving.example>\r\n')
    expect(headers).toMatch(new RegExp(`Message-ID: <${receiptNumber}\\.[0-9a-f]{32}@giving\\.example>`))
    expect(text).toContain('Dear Lina Okoro,\r\n')
    expect(text).toContain(
      'Donation: $40.00\r\nTip to Giving Platform: $2.50\r\nCharged: $42.50\r\nDate: November 21, 2026\r\n',
    )
    expect(text).toContain('This was a test through "sandbox": no money was moved.')
    expect(html).toContain('<html lang="en">')
    expect(html).toContain('<a href="https://giving.example/projects/wells-for-tara/">')
    expect(await state()).toEqual([{ state: 'sent', tries: 1, reply: undefined }])
  })

  it('are in the language of the donor where there is a template in it', async () => {
    const server = await startMailServer()
    const subjects: string[] = []
    const titles: boolean[] = []
    await store.db.query(`update project set texts = '{"title@fr": "Puits de Tara"}'`)
    for (const [language, acceptLanguage] of [
      ['fr-CA', undefined],
      ['xx', 'fr'],
      [undefined, 'fr-CH, fr;q=0.9, en;q=0.8'],
      [undefined, '*'],
      [undefined, undefined],
    ]) {
      await submitDonation(
        payments,
        { account, keyId, requestId: randomUUID() },
        donationRequest({ language }, {}, acceptLanguage),
      )
      await mail(server.url)
      const { headers, text } = readMail(server.taken.at(-1) as never)
      subjects.push(`${/Subject: (\S+)/.exec(headers)?.[1]} ${/: (\S*40[^\r]*)\r/.exec(text)?.[1]}`)
      titles.push(text.includes('Puits de Tara'))
    }
    await store.db.query('update project set texts = null')
    // The project too, where it has a title in that language.
    expect(titles).toEqual([true, false, true, false, false])
    expect(subjects.map((subject) => (/^(Receipt|=\?|Re)/.exec(subject)?.[0] === 'Receipt' ? 'en' : 'fr'))).toEqual([
      ...['fr', 'en', 'fr', 'en', 'en'],
    ])
    expect(() => donationRequest({ language: 'français!' })).toThrow(
      'donation.language: expected a language such as fr',
    )
  })

  it.each([
    ['fr', 'Don\u202f: 40,00\u00a0$US\r\nMontant débité\u202f: 40,00\u00a0$US\r\nDate\u202f: 21 novembre 2026'],
    ['de', 'Spende: 40,00\u00a0$\r\nAbgebucht: 40,00\u00a0$\r\nDatum: 21. November 2026'],
  ])('are in the language of the platform (%s), without lines that have nothing to say', async (language, lines) => {
    const server = await startMailServer()
    await donate()
    await mail(server.url, { choice: { language, operatorsDir: undefined } })
    const { text, html } = readMail(server.taken[0] as never)
    expect(text).toContain(lines)
    expect(html).toContain(`<html lang="${language}">`)
  })

  it('are not due for donations that are declined, and none is entered while mail is off', async () => {
    await expect(donate({}, { paymentGatewayNonce: 'fake-processor-declined-visa-nonce' })).rejects.toThrow('declined')
    await donate({}, {}, testPayments(store, { clock }))
    expect(await state()).toEqual([])
  })

  it('are not tried again when the server refuses the recipient, who is named nowhere', async () => {
    const refuse = Object.assign(new Error('no mailbox findme@example.org'), { responseCode: 550 })
    const server = await startMailServer({ onRcptTo: (_address, _session, done) => done(refuse) })
    await donate({ email: 'findme@example.org' })
    expect(await mail(server.url)).toEqual({ sent: 0, later: 0, ended: 1 })
    later(10_000)
    expect(await mail(server.url)).toEqual({ sent: 0, later: 0, ended: 0 })
    expect(await state()).toEqual([{ state: 'refused', tries: 1, reply: 550 }])
    expect(warnings.join()).toContain('a receipt was not mailed')
    expect(warnings.join()).toMatch(/"donationId":\d+/)
    expect(warnings.join()).not.toContain('findme')
    expect(await everyRow(store.db)).not.toContain('findme')
  })

  it('wait for a server that is down or busy, longer each time, and are given up in the end', async () => {
    const down = await startMailServer()
    await down.close()
    await donate()
    expect(await mail(down.url)).toEqual({ sent: 0, later: 1, ended: 0 })
    expect(await mail(down.url)).toEqual({ sent: 0, later: 0, ended: 0 })
    later(1)
    const busy = Object.assign(new Error('greylisted'), { responseCode: 451 })
    const grey = await startMailServer({ onRcptTo: (_address, _session, done) => done(busy) })
    expect(await mail(grey.url)).toEqual({ sent: 0, later: 1, ended: 0 })
    expect(await state()).toEqual([{ state: 'due', tries: 2, reply: 451 }])
    later(1.9)
    expect(await mail(down.url)).toEqual({ sent: 0, later: 0, ended: 0 })
    later(0.2)
    const back = await startMailServer({}, down.port)
    expect(await mail(back.url)).toEqual({ sent: 1, later: 0, ended: 0 })
    await back.close()
    await requeueReceiptMail(
      store.db,
      (await store.db.query<{ id: number }>('select donation_id as id from receipt_mail')).rows[0]?.id ?? 0,
      time.now,
    )
    for (let tries = 1; tries < 14; tries++) {
      expect(await mail(down.url)).toEqual({ sent: 0, later: 1, ended: 0 })
      later(400)
    }
    expect(await mail(down.url)).toEqual({ sent: 0, later: 0, ended: 1 })
    expect(await countUnmailed(store.db, 'donors', time.now)).toEqual({ refused: 0, failed: 1, unknown: 0 })
  })

  it('are sent at most once when the process is killed before it can record that one was taken', async () => {
    let child: ChildProcess | undefined
    const server = await startMailServer({ onTaken: () => void child?.kill('SIGKILL') })
    time.now = new Date()
    const { receiptNumber } = await donate()
    child = await forkStripped('test/support/processes/receipt-process.ts', [url, server.url])
    await once(child, 'exit')
    child = undefined
    expect(await state()).toEqual([{ state: 'sending', tries: 1, reply: undefined }])
    later(120)
    expect(await mail(server.url)).toEqual({ sent: 0, later: 0, ended: 0 })
    expect(server.taken).toHaveLength(1)
    expect(await countUnmailed(store.db, 'donors', time.now)).toMatchObject({ unknown: 1 })
    const { rows } = await store.db.query<{ id: number }>('select id from donation where receipt_number = $1', [
      receiptNumber,
    ])
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent', SMTP_URL: server.url, MAIL_FROM: 'a@giving.example' }
    await store.db.query(`update receipt_mail set next_at = now() - interval '2 hours'`)
    const asked = await runCommandLine(['donations', 'receipt', `${rows[0]?.id}`], environment)
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('will be mailed') })
    expect(await mail(server.url)).toEqual({ sent: 1, later: 0, ended: 0 })
    const ids = server.taken.map((one) => /Message-ID: .*/.exec(readMail(one).headers)?.[0].replace(/@.*/, ''))
    expect(new Set(ids).size).toBe(1)
  })

  it('are not sent again when the connection breaks while a message is handed over', async () => {
    const server: MailServer = await startMailServer({ onTaken: () => server.cut() })
    for (const _each of [1, 2, 3]) await donate()
    // The others wait for the next minute: a server that breaks off leaves one in doubt, not all.
    expect(await mail(server.url)).toEqual({ sent: 0, later: 0, ended: 1 })
    expect(await state()).toMatchObject([{ state: 'unknown' }, { state: 'due' }, { state: 'due' }])
    const working = await startMailServer({})
    expect(await mail(working.url)).toEqual({ sent: 2, later: 0, ended: 0 })
    expect(await mail(working.url)).toEqual({ sent: 0, later: 0, ended: 0 })
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent', SMTP_URL: working.url, MAIL_FROM: 'a@giving.example' }
    const both = await runCommandLine(['donations', 'receipt', '7', '--all-unknown'], environment)
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('expected the number of a donation or') })
    const asked = await runCommandLine(['donations', 'receipt', '--all-unknown'], environment)
    expect(asked).toMatchObject({ code: 0, stdout: 'receipts that will be mailed within minutes: 1\n' })
    // The command has the clock of the machine.
    time.now = new Date()
    expect(await mail(working.url)).toEqual({ sent: 1, later: 0, ended: 0 })
  })

  it('cannot be led astray by names and titles with line ends, headers or HTML', async () => {
    const server = await startMailServer()
    const request = donationRequest({ email: 'eve@example.org' })
    const payer = { firstname: 'Eve\r\nBcc: victim@example.org\r\n\r\nHello', lastname: '<b>{{amount}}</b>' }
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, { ...request, payer })
    await mail(server.url)
    const [taken] = server.taken
    expect(taken?.to).toEqual(['eve@example.org'])
    const { headers, text, html } = readMail(taken as never)
    expect(headers).not.toMatch(/^bcc|victim/im)
    expect(text).toContain('Dear Eve Bcc: victim@example.org Hello <b>{{amount}}</b>,\r\n')
    expect(html).toContain('&lt;b&gt;{{amount}}&lt;/b&gt;')
  })

  it('go to nobody else when an address looks like two', async () => {
    const server = await startMailServer()
    await donate({ email: 'victim,eve@example.org' })
    await donate({ email: '<eve@example.org>' })
    await mail(server.url)
    for (const { to } of server.taken) expect(to).toEqual(['victim,eve@example.org'])
  })

  it('are dropped for donors who were erased, and wait for a key that is missing or data that was changed', async () => {
    const server = await startMailServer()
    await donate()
    await store.db.query('update donor set key_id = $1', ['another'])
    expect(await mail(server.url)).toEqual({ sent: 0, later: 1, ended: 0 })
    later(2)
    await store.db.query(`update donor set key_id = 'test', sealed = set_byte(sealed, 20, 1 # get_byte(sealed, 20))`)
    expect(await mail(server.url)).toEqual({ sent: 0, later: 1, ended: 0 })
    expect(warnings.join()).toContain('donor-data-changed')
    await store.db.query('delete from donor')
    later(4)
    expect(await mail(server.url)).toEqual({ sent: 0, later: 0, ended: 1 })
    expect(await state()).toMatchObject([{ state: 'dropped' }])
    expect(server.taken).toEqual([])
  })

  it('go unencrypted to this machine only, unless the address says so, and with the password of the address', async () => {
    let signedIn = ''
    const server = await startMailServer({
      ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true },
      onAuth: ({ username, password }, _session, done) => {
        signedIn = `${username} ${password}`
        done(null, { user: username })
      },
    })
    await donate()
    expect(await mail(`smtp://0.0.0.0:${server.port}`)).toEqual({ sent: 0, later: 1, ended: 0 })
    expect(server.taken).toEqual([])
    later(2)
    const address = `smtp://giving%40example:p%2Fw@0.0.0.0:${server.port}?requireTLS=false`
    expect(await mail(address)).toEqual({ sent: 1, later: 0, ended: 0 })
    expect(signedIn).toBe('giving@example p/w')
  })

  it('are due again when the process is stopped before the server takes them', async () => {
    const stopping = new AbortController()
    const server = await startMailServer({ onMailFrom: () => stopping.abort() })
    await donate()
    expect(await mailDueReceipts(mailing(server.url), stopping.signal)).toEqual({ sent: 0, later: 1, ended: 0 })
    expect(await state()).toEqual([{ state: 'due', tries: 1, reply: undefined }])
  })

  it('are mailed by a job, which is not there without SMTP_URL, and does not start with a bad template', async () => {
    const server = await startMailServer()
    await donate()
    const folder = await temporaryFolder()
    const open = (environment: Record<string, string>) => {
      const config = readConfig(environment)
      const deps = { store, config, payments, clock, log: pino({ level: 'silent' }) }
      expect(Object.keys(receipts.schedules(config))).toEqual(environment.SMTP_URL ? ['receipts'] : [])
      return receipts.open(deps as unknown as WorkDeps)
    }
    expect(open({})).toBeUndefined()
    const mailed = { SMTP_URL: server.url, MAIL_FROM: 'receipts@giving.example', MAIL_TEMPLATES_DIR: folder }
    expect(await open(mailed)?.tick?.({ signal: never } as JobCall)).toBe('1 sent, 0 later, 0 not sent')
    expect(server.taken).toHaveLength(1)
    await writeFile(path.join(folder, 'receipt.en.txt'), 'Hello')
    await expect(open(mailed)?.begin?.()).rejects.toMatchObject({ code: 'configuration-invalid' })
  })

  it('are sent once each by workers at the same time', async () => {
    const server = await startMailServer()
    for (let n = 0; n < 8; n++) await donate()
    const done = await Promise.all([1, 2, 3].map(() => mail(server.url)))
    expect(done.reduce((sum, { sent }) => sum + sent, 0)).toBe(8)
    const ids = server.taken.map((one) => /Message-ID: .*/.exec(readMail(one).headers)?.[0])
    expect(new Set(ids).size).toBe(8)
  })
})

describe('templates of receipts', () => {
  it('name the same fields in each language', async () => {
    const folder = new URL('../../../../src/platform/mail/templates/', import.meta.url)
    const fieldsOf = async (file: string) =>
      [...(await readFile(new URL(file, folder), 'utf8')).matchAll(/\{\{\w+\}\}/g)].map(String).sort()
    const files = (await readdir(folder)).map((file) => [file, file.replace(/\.\w+\.txt$/, '')] as const)
    for (const [file, message] of files) expect(await fieldsOf(file), file).toEqual(await fieldsOf(`${message}.en.txt`))
    const languages = (message: string) => files.filter(([, one]) => one === message).length
    const toDonors = [
      'receipt-pdf',
      'receipt',
      'refund',
      'charge-failed',
      'gift-asleep',
      'statement',
      'subscription',
      'progress-report',
    ]
    expect(toDonors.map(languages)).toEqual(toDonors.map(() => 6))
  })

  const folderWith = async (text: string) => {
    const folder = await temporaryFolder()
    await writeFile(path.join(folder, 'receipt.de.txt'), text)
    return folder
  }
  const values = {
    ...{ name: 'Lina', platform: 'P', project: 'Wells', projectLink: '', amount: '40 $', tip: '', charged: '40 $' },
    ...{ date: 'today', receiptNumber: 'R1', cancelLink: '', testGateway: '', pdfLink: '' },
  }

  const load = (from: TemplateChoice) => loadTemplate('receipt', Object.keys(values) as (keyof typeof values)[], from)

  it('come from the folder of the operator, and in English where there is none', async () => {
    const folder = await folderWith(
      'Subject: Quittung {{receiptNumber}}\n\nHallo {{name}}\nTrinkgeld {{tip}}\nTschüss\n',
    )
    const own = (await load({ language: 'de', operatorsDir: folder })).render(values)
    expect(own).toMatchObject({ subject: 'Quittung R1', text: 'Hallo Lina\nTschüss\n' })
    expect(own.html).toContain('<p>Hallo Lina<br>\nTschüss</p>')
    expect((await load({ language: 'sw', operatorsDir: undefined })).render(values).subject).toContain('Receipt R1')
    expect((await load({ language: 'fr', operatorsDir: folder })).render(values).subject).toContain('Reçu R1')
  })

  it.each([
    ['Subject: {{receipt}}\n\nHallo', '{{receipt}}'],
    ['Hallo {{name}}\n', 'a line "Subject: ..."'],
    ['Subject: a\nb\n', 'an empty line'],
    ['Subject: a\n\n', 'the text of the message'],
  ])('are refused when they cannot be used: %j', async (text, reason) => {
    const folder = await folderWith(text)
    await expect(checkReceiptTemplate({ language: 'de', operatorsDir: folder })).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining(reason),
    })
  })
})

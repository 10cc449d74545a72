import { existsSync } from 'node:fs'
import path from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import { signOf, toMinorUnits } from '../../kernel/money.js'
import { loadTemplate, type TemplateChoice, templateFor } from '../../platform/mail/load-template.js'
import { writePdf } from '../../platform/pdf/write-pdf.js'
import { donorOf } from '../donors/find-donor.js'
import type { Payments } from '../payments.js'
import { findReceipt, type Receipt } from '../sql/receipt-mails.js'
import { lessThan, nameOf, wordsIn } from './mail-donors.js'
import { receiptFields, receiptValues } from './mail-receipts.js'

const fields = [...receiptFields, 'refunded', 'left'] as const

/** Ends with an error where the template of receipts as PDF cannot be used. Throws `configuration-invalid`. */
export async function checkPdfTemplate(choice: TemplateChoice): Promise<void> {
  await loadTemplate('receipt-pdf', fields, choice)
}

/** Whose receipts these are. */
export type ReceiptSource = Pick<Payments, 'store' | 'donors'> & {
  readonly choice: TemplateChoice
  readonly platform: string
}

/** A receipt as PDF. */
export type ReceiptPdf = { readonly bytes: Buffer; readonly language: string; readonly receiptNumber: string }

/**
 * The receipt of a donation, in the donor's language. Throws `not-found` when there is none: no such donation, one that was not
 * paid here or given back as a whole, or a donor who was erased. `mayRead` is asked before anything of the donor is read.
 */
export async function receiptPdf(
  { store, donors, choice, platform }: ReceiptSource,
  donationId: number,
  mayRead: (receipt: Receipt) => boolean = () => true,
): Promise<ReceiptPdf> {
  const receipt = await findReceipt(store.db, donationId)
  if (!receipt || !mayRead(receipt)) throw none('there is no such donation with a receipt')
  const { amount, refunded, currency, receiptNumber } = receipt
  if (toMinorUnits(refunded, 4) >= toMinorUnits(amount, 4)) throw none('the receipt is void: all was given back')
  const donor = await donorOf(store.db, donors, donationId)
  if (!donor) throw none('the donor was erased')
  const { template, language } = await templateFor('receipt-pdf', fields, { wanted: donor.details.language, choice })
  const { money } = wordsIn(language)
  const given = signOf(refunded) > 0
  const { subject, text } = template.render({
    ...receiptValues(receipt, { name: nameOf(donor), platform, language }),
    refunded: given ? money(refunded, currency) : '',
    left: given ? money(lessThan(amount, refunded), currency) : '',
  })
  const bytes = await toPdf({ choice, platform }, { subject, text, language, at: receipt.settledAt })
  return { bytes, language, receiptNumber }
}

/** A message to a donor as PDF, to be printed. */
export async function toPdf(
  { choice, platform }: Pick<ReceiptSource, 'choice' | 'platform'>,
  message: Readonly<Record<'subject' | 'text' | 'language', string>> & { readonly at: Date },
): Promise<Buffer> {
  const own = choice.operatorsDir === undefined ? undefined : path.join(choice.operatorsDir, 'receipt.ttf')
  const fontFile = own !== undefined && existsSync(own) ? own : undefined
  const { subject: heading, text, language, at } = message
  return await writePdf({ heading, lines: text.trim().split('\n'), language, author: platform, at, fontFile })
}

function none(reason: string): ServiceError {
  return new ServiceError('not-found', `there is no receipt: ${reason}`)
}

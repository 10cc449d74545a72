/** SQL: the columns of donation `d`, in the shape of `Donation`. */
export const donationColumns = `d.id, d.project_id as "projectId", d.status, d.amount, d.addon, d.fee, d.currency,
  d.newsletter_platform as "newsletterPlatform", d.newsletter_charity as "newsletterCharity", d.refunded, d.reference,
  d.transaction_id as "transactionId", d.refcode, d.received_at as "receivedAt", d.settled_at as "settledAt",
  d.receipt_number as "receiptNumber", case when d.decline_code is not null then
    json_build_object('code', d.decline_code, 'text', coalesce(d.decline_text, 'Declined')) end as decline,
  case when d.status = 'received' then d.waits_for end as "waitsFor",
  case when d.settled_amount is not null then json_build_object('amount', d.settled_amount::text, 'addon',
    d.settled_addon::text, 'currency', d.settled_currency) end as settled, d.liability_shifted as "liabilityShifted"`

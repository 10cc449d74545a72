/** SQL: the columns of donation `d`, in the shape of `Donation`. */
export const donationColumns = `d.id, d.project_id, d.status, d.amount, d.addon, d.fee, d.currency,
  d.newsletter_platform, d.newsletter_charity, d.refunded, d.reference,
  d.transaction_id, d.refcode, d.received_at, d.settled_at,
  d.receipt_number, case when d.decline_code is not null then
    json_build_object('code', d.decline_code, 'text', coalesce(d.decline_text, 'Declined')) end as decline,
  case when d.status = 'received' then d.waits_for end as waits_for,
  case when d.settled_amount is not null then json_build_object('amount', d.settled_amount::text, 'addon',
    d.settled_addon::text, 'currency', d.settled_currency) end as settled, d.liability_shifted`

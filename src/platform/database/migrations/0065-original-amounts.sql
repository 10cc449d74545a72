-- compatible
-- A payout may have been made in another currency: it counts with what was settled for it, and says what was paid.
alter table disbursement add column original_amount numeric(18, 3), add column original_currency text;
comment on column disbursement.original_amount is 'What was paid, where that was in another currency; amount is what was settled for it.';
comment on column disbursement.original_currency is 'ISO 4217; the currency of original_amount.';
alter table disbursement add constraint disbursement_original_check check (
  (original_amount is null) = (original_currency is null) and coalesce(original_currency ~ '^[A-Z]{3}$', true)
    and original_currency is distinct from currency and coalesce(original_amount * amount > 0, true)) not valid;
comment on constraint disbursement_original_check on disbursement is
  'original_amount: an amount of the sign of amount, with original_currency, a currency code of ISO 4217 other than currency';

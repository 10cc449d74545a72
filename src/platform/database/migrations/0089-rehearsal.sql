-- compatible
-- The sandbox rehearses what a processor does: it asks donors, settles later, keeps ways to pay, and reports disputes.

alter table sandbox_charge
  -- The last part of the address at which the donor confirms it; null: the donor is not asked.
  add column secret text unique,
  add column answered_at timestamptz,
  -- When money moves, or is known not to; null: at once.
  add column settles_at timestamptz,
  -- What is paid out for it in the platform's currency; null: what was charged.
  add column settled_amount numeric(18, 3),
  add column settled_currency text,
  -- What later charges of its card, which is kept, are declined with; null: nothing.
  add column card_code integer,
  add column dispute text check (dispute in ('open', 'won', 'lost'));

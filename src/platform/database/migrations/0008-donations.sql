-- Donations: intent, outcome, refunds; who gave, apart from what was given; the sandbox gateway's own books.

-- received -> settled | declined | failed, settled -> refunded. An intent is written before money may move.
alter table donation
  alter column settled_at drop not null,
  add column status text not null default 'settled'
    check (status in ('received', 'settled', 'declined', 'failed', 'refunded')),
  -- Our name for the payment at the gateway; null: came as a record of the past, not through a gateway.
  add column reference text unique,
  add column gateway text,
  -- The gateway's name for the charge.
  add column charge_id text,
  add column api_key_id bigint references api_key (id),
  -- `tx:` and the caller's transactionId, or `rq:` and the id of a request that had none.
  add column idempotency_key text,
  add column transaction_id text,
  add column refcode text,
  add column partner_code text,
  -- A tip to the platform, charged with the amount; no money of the project.
  add column addon numeric(18, 3) not null default 0 check (addon >= 0),
  -- The platform's share of the amount.
  add column fee numeric(18, 3) not null default 0 check (fee >= 0),
  add column newsletter_platform boolean not null default false,
  add column newsletter_charity boolean not null default false,
  add column received_at timestamptz,
  -- Until then a charge may be under way, or may still turn up at the gateway; by the database's clock.
  add column lease_until timestamptz,
  add column receipt_number text unique,
  -- The processor's published code and text of a declined payment.
  add column decline_code integer,
  add column decline_text text,
  -- What has been given back of the amount.
  add column refunded numeric(18, 3) not null default 0 check (refunded between 0 and amount),
  add check (status not in ('settled', 'refunded') or settled_at is not null),
  add check (status <> 'received' or (reference is not null and lease_until is not null));

-- One donation a key. One that failed took no money, so its key is free again.
create unique index donation_idempotency on donation (api_key_id, idempotency_key)
  where idempotency_key is not null and status <> 'failed';
create index donation_open on donation (lease_until) where status = 'received';

-- Numbers of receipts: unique and increasing; gaps are allowed, so no donation waits for another.
create sequence receipt_number_seq start 10001;
create sequence receipt_contribution_seq start 20001;

-- Every transition of every donation, append-only; holds no personal data. The row of `settled` has the project's totals
-- after it, which is what the answer said.
create table donation_event (
  id bigint generated always as identity primary key,
  donation_id bigint not null references donation (id) on delete cascade,
  kind text not null check (kind in ('received', 'settled', 'declined', 'failed', 'refunded')),
  at timestamptz not null,
  details jsonb not null default '{}'
);
create index donation_event_donation on donation_event (donation_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  -- What goes with the row it belongs to (removal of demo data) goes by a trigger of its foreign key.
  if tg_op = 'DELETE' and pg_trigger_depth() > 1 then
    return old;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger append_only before update or delete on donation_event for each row execute function refuse_change();

-- Who gave: erased without a trace in any total. The hash of the request lives here because it is made of personal data;
-- its salt makes sure that nothing can be guessed from it.
create table donor (
  donation_id bigint primary key references donation (id) on delete cascade,
  email text not null,
  details jsonb not null default '{}',
  payload_salt bytea not null,
  payload_hash bytea not null
);
create index donor_email on donor (lower(email));

-- Money given back: written before the gateway is asked, so that a refund is never lost and never made twice.
create table donation_refund (
  id bigint generated always as identity primary key,
  donation_id bigint not null references donation (id) on delete cascade,
  reference text not null unique,
  -- A chargeback has been taken by the processor already.
  kind text not null check (kind in ('refund', 'chargeback')),
  amount numeric(18, 3) not null check (amount > 0),
  -- What goes back of the tip; only with the whole donation.
  addon numeric(18, 3) not null default 0 check (addon >= 0),
  requested_at timestamptz not null,
  lease_until timestamptz not null,
  done_at timestamptz
);
create index donation_refund_donation on donation_refund (donation_id);
create unique index donation_refund_open on donation_refund (donation_id) where done_at is null;

-- What of a month's figure single donations, refunds and fees are there for; the rest came as totals.
alter table donation_month add column itemised numeric(18, 3) not null default 0;

-- The books of the sandbox gateway: what a payment processor would keep on its side. No personal data.
create table sandbox_charge (
  id bigint generated always as identity primary key,
  reference text not null unique,
  amount numeric(18, 3) not null check (amount > 0),
  currency text not null,
  -- null: approved.
  decline_code integer,
  charged_at timestamptz not null
);
create table sandbox_refund (
  id bigint generated always as identity primary key,
  reference text not null unique,
  charge_id bigint not null references sandbox_charge (id),
  amount numeric(18, 3) not null check (amount > 0),
  refunded_at timestamptz not null
);

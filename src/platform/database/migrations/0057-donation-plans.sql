-- compatible
-- Regular gifts: a plan begins with a donation whose way to pay the processor keeps, and is charged once for each instant.
create table donation_plan (
  id bigint generated always as identity primary key,
  donation_id bigint not null unique references donation on delete cascade,
  state text not null default 'starting' check (state in ('starting', 'active', 'asleep', 'ended')),
  customer text,
  method text,
  instant integer not null default 1 check (instant > 0),
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz,
  look_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  reason text,
  tell_at timestamptz,
  check (state <> 'active' or (next_at is not null and method is not null))
);
comment on table donation_plan is 'Gifts of every month; each charge is a donation of its own. What is charged, and for whom, is that of the first donation.';
comment on column donation_plan.customer is 'The processor''s name for the donor.';
comment on column donation_plan.method is 'The processor''s name for the donor''s way to pay.';
comment on column donation_plan.instant is 'Which month after the first donation is charged next.';
comment on column donation_plan.look_at is 'When the plan is looked at next; moved on when a process begins.';
comment on column donation_plan.tell_at is 'When the donor is told that it sleeps; null: there is nothing to tell.';
create index donation_plan_due on donation_plan (look_at) where state in ('starting', 'active');
create index donation_plan_tell on donation_plan (tell_at) where tell_at is not null;

create table donation_plan_charge (
  plan_id bigint not null references donation_plan on delete cascade,
  instant integer not null,
  try integer not null,
  reference text not null unique,
  primary key (plan_id, instant, try)
);
comment on table donation_plan_charge is 'Under which reference an instant of a plan is charged, for each try.';

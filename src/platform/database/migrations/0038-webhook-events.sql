-- compatible
-- What payment processors have sent by themselves, without what they wrote: nothing of a donor is kept.

create table webhook_event (
  id bigint generated always as identity primary key,
  gateway text not null,
  event_id text not null,
  kind text not null,
  charge_id text,
  reference text,
  occurred_at timestamptz not null,
  received_at timestamptz not null,
  state text not null check (state in ('due', 'done', 'ignored', 'failed')),
  outcome text,
  tries integer not null default 0 check (tries >= 0),
  next_at timestamptz not null,
  unique (gateway, event_id),
  constraint webhook_event_has_charge check (state = 'ignored' or charge_id is not null)
);
create index webhook_event_due on webhook_event (next_at, id) where state = 'due';
create index webhook_event_charge on webhook_event (gateway, charge_id);
create index webhook_event_failed on webhook_event (id) where state = 'failed';

comment on column webhook_event.event_id is 'The id that the processor gives it in every delivery.';
comment on column webhook_event.outcome is 'How the charge was found when it was followed, or why the event is ignored or not handled yet.';
comment on column webhook_event.next_at is 'When a due event is handled next.';

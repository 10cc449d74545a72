-- compatible
-- Who did what, from where: sign-ins and their refusals, keys, grants, refunds, approvals. Holds no secret and no e-mail;
-- rows are only added, and pruned after 400 days.

create table audit_event (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  action text not null,
  refused boolean not null,
  actor text not null,
  origin text not null,
  subject text,
  details jsonb not null
);
create index audit_event_time on audit_event (at);

-- compatible
-- Who publishes, and in what currency and language, since the first release that was not a trial's. The newest row counts.
create table publisher (
  id integer generated always as identity primary key,
  ref text not null,
  type text not null,
  currency text not null,
  language text not null,
  recorded_at timestamptz not null
);
comment on table publisher is 'Who publishes: one row, and one more with each change that an operator confirmed.';
comment on column publisher.ref is 'Identifier of the publisher.';
comment on column publisher.type is 'Code of the list OrganisationType.';
comment on column publisher.currency is 'Currency of amounts without one of their own, such as goals; never changed.';
comment on column publisher.language is 'Language of texts, ISO 639-1.';

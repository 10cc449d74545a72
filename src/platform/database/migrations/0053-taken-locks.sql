-- compatible
-- What one process at a time may do: a lock is a row with an end that its holder puts off, since behind a pooler no session
-- lasts.
create table taken_lock (
  name text primary key,
  owner uuid not null,
  until timestamptz not null
);

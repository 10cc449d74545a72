-- Two more agreements with API users, each for one field of a donation: without it the field is ignored.
alter table account_grant drop constraint account_grant_operation_check;
alter table account_grant add constraint account_grant_operation_check
  check (operation in ('donations', 'donation-notes', 'partner-codes'));

-- A donation that failed because its charge never turned up is looked up once more, later: its lease_until says when.
create index donation_failed on donation (lease_until) where status = 'failed' and lease_until is not null;

-- breaking
-- Donors are encrypted by the service. Rows from before stay in clear until the service encrypts them.

alter table donor
  alter column email drop not null,
  alter column details drop not null,
  alter column details drop default,
  add column key_id text,
  add column wrapped_key bytea,
  add column sealed bytea,
  add column email_hash bytea,
  add constraint donor_sealed_or_clear check (
    num_nonnulls(key_id, wrapped_key, sealed, email_hash) = 4 and num_nonnulls(email, details) = 0
    or num_nonnulls(key_id, wrapped_key, sealed, email_hash) = 0 and num_nonnulls(email, details) = 2
  );

drop index donor_email;
create index donor_email on donor (lower(email)) where email is not null;
create index donor_email_hash on donor (email_hash);

comment on column donor.email is 'In clear, from before donors were encrypted; null in every other row.';
comment on column donor.details is 'In clear, from before donors were encrypted; null in every other row.';
comment on column donor.key_id is 'The key that wrapped_key is encrypted with.';
comment on column donor.wrapped_key is 'The data key of this row, encrypted and bound to the reference of the donation.';
comment on column donor.sealed is 'E-mail and details, encrypted with the data key and bound to the reference of the donation.';
comment on column donor.email_hash is 'Keyed hash of the e-mail in small letters, for looking a person up.';
comment on column donor.payload_hash is 'Hash of the request, keyed with the data key; in rows in clear without a key.';

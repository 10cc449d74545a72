-- compatible
-- Clients read the amount of a donation option as a whole number. "not valid": rows that exist already stay as they are.

alter table donation_option add constraint option_amount_is_whole check (amount = trunc(amount)) not valid;
comment on column donation_option.amount is 'Amount in the platform''s currency, a whole number.';

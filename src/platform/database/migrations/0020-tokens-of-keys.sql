-- compatible
-- Tokens are looked up by their key: to end the oldest of too many, and to end all of a key or an account.

create index access_token_key on access_token (api_key_id, issued_at desc);

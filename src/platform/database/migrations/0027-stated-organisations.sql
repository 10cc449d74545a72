-- compatible
-- An older page of records must not set an organisation back: the newest instant that the page it came from names.

alter table organisation_version add column stated_at timestamptz;

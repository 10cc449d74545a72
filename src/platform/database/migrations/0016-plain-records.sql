-- Ready texts are stored as they are: compressing them took the server twice as long as storing them, and every read of the
-- API had to unpack them again. Texts that are there already stay as they are until they are next made.
alter table wire_record
  alter column xml set storage external,
  alter column json set storage external,
  alter column summary_xml set storage external,
  alter column summary_json set storage external;
alter table organisation_record
  alter column xml set storage external,
  alter column json set storage external;

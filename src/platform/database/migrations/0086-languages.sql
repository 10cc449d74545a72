-- compatible
-- Language belongs to the record, and its texts may exist in several. They are columns of it, so marks, undo, comparison and
-- exports follow from its table.
do $$
declare
  name text;
begin
  foreach name in array array['project', 'organisation', 'progress_report'] loop
    execute format('alter table %I add column language text, add column texts jsonb', name);
    execute format('alter table %I add constraint %I check (language ~ ''^[a-z]{2}$'')', name, name || '_language_check');
    execute format('comment on constraint %I on %I is %L', name || '_language_check', name,
      'language: a code of ISO 639-1, such as fr');
    execute format('alter table %I add constraint %I check (jsonb_typeof(texts) = ''object''
      and not jsonb_path_exists(texts, ''$.* ? (@.type() != "string")''))', name, name || '_texts_check');
    execute format('comment on constraint %I on %I is %L', name || '_texts_check', name,
      'texts: an object of texts by field and language, such as {"title@fr": "Puits"}');
    execute format('comment on column %I.texts is %L', name,
      'Its texts in other languages, by field and language (title@fr). Null: none.');
  end loop;
end $$;
comment on column project.language is 'Language of its texts (ISO 639-1). Null: DEFAULT_LANGUAGE.';
comment on column organisation.language is 'Language of its texts (ISO 639-1). Null: DEFAULT_LANGUAGE.';
comment on column progress_report.language is 'Language of its texts (ISO 639-1). Null: that of the project.';

-- Texts as they are after a record that states these: an empty one takes the stored one away.
create function merged_texts(stored jsonb, stated jsonb) returns jsonb language sql immutable as $$
  select jsonb_object_agg(key, value)
  from jsonb_each_text(coalesce(stored, '{}') || coalesce(stated, '{}')) where value <> ''
$$;

drop trigger mark_organisations on organisation;
create trigger mark_organisations after update on organisation for each row
  when ((old.name, old.ein, old.org_ref, old.url, old.language, old.texts)
    is distinct from (new.name, new.ein, new.org_ref, new.url, new.language, new.texts))
  execute function mark_content('organisations');

-- compatible
-- The API's search finds words as the portal's does: without accents, and with the apostrophes and quotes that people type.
-- It needs no extension, and gives the same in every locale: that of C knows no letters beyond ASCII.
create function fold_search(words text) returns text immutable strict parallel safe language sql as $$
  select case when octet_length(words) = length(words) then lower(words) else
    replace(replace(replace(
      translate(
        lower(regexp_replace(
          regexp_replace(
            translate(normalize(words, NFKD), U&'\2018\2019\02BC\2032\201C\201D\201E\00AB\00BB', '''''''''"""""'),
            U&'[\0300-\036F\0483-\0489\0591-\05BD\05BF\0610-\061A\0640\064B-\065F\0670\1AB0-\1AFF\1DC0-\1DFF\20D0-\20FF]', '', 'g'),
          U&'[\00A1-\00BF\2000-\206F\3000-\303F]', ' ', 'g')),
        'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏØøŁłĐđıÆŒẞ',
        'αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяѐёђѓєѕіїјљњћќѝўџoollddiæœß'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')
  end
$$;

-- Documents that an earlier version made are not folded; a job makes them again. Until then a search with letters beyond
-- ASCII looks for its words in both forms, unless it leaves words out: a folded document lacks each word with an accent.
create function search_query(words text) returns tsquery immutable strict parallel safe language sql as $$
  select case when octet_length(words) = length(words) then websearch_to_tsquery('english', words)
    when words ~ '(^|[[:space:]])-' then websearch_to_tsquery('english', fold_search(words))
    else websearch_to_tsquery('english', words) || websearch_to_tsquery('english', fold_search(words)) end
$$;

alter table project_search add column folded boolean not null default false;
comment on column project_search.folded is 'Whether the document has words without accents.';

-- As before, of folded texts.
create or replace function refresh_search(ids bigint[]) returns void language sql as $$
  delete from project_search s
  where s.project_id = any (ids) and not exists (select from project p where p.id = s.project_id and p.active);
  insert into project_search (project_id, document, folded)
  select p.id,
    setweight(to_tsvector('english', fold_search(left(p.title, 20000))), 'A')
      || setweight(to_tsvector('english', fold_search(left(concat_ws(' ', o.name, p.country_name, (
        select string_agg(c.name, ' ' order by k.position)
        from project_country k join country c on c.code = k.country_code where k.project_id = p.id
      )), 20000))), 'B')
      || setweight(to_tsvector('english', fold_search(left(coalesce(p.summary, ''), 20000))), 'B')
      || setweight(to_tsvector('english', fold_search(left(coalesce(p.need, ''), 20000))), 'C')
      || setweight(to_tsvector('english', fold_search(left(coalesce(p.activities, ''), 20000))), 'C'),
    true
  from project p left join organisation o on o.id = p.organisation_id
  where p.id = any (ids) and p.active
  order by p.id
  on conflict (project_id) do update set document = excluded.document, folded = true
    where project_search.document <> excluded.document or not project_search.folded
$$;

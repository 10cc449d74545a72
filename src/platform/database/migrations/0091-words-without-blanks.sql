-- compatible
-- As before, and each letter of a script without blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) is a word. Further
-- letters are one: the yeh and kaf of Arabic and Persian, the yeh that Egyptians write without dots, both small sigmas.
-- An Arabic word is the same with its article, also behind a letter that is joined to it.
create or replace function fold_search(words text) returns text immutable strict parallel safe language sql as $$
  select case when octet_length(words) = length(words) then lower(words) else
    regexp_replace(replace(replace(replace(
      translate(
        lower(regexp_replace(regexp_replace(
          regexp_replace(
            translate(normalize(words, NFKD), U&'\2018\2019\02BC\2032\201C\201D\201E\00AB\00BB', '''''''''"""""'),
            U&'[\0300-\036F\0483-\0489\0591-\05BD\05BF\0610-\061A\0640\064B-\065F\0670\1AB0-\1AFF\1DC0-\1DFF\20D0-\20FF\3099\309A]', '', 'g'),
          U&'[\00A1-\00BF\2000-\206F\3000-\303F]', ' ', 'g'),
          U&'([\0E00-\0EFF\1000-\109F\1780-\17FF\3040-\30FF\3400-\9FFF])', ' \1 ', 'g')),
        'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏØøŁłĐđıÆŒẞةٱىیکς',
        'αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяѐёђѓєѕіїјљњћќѝўџoollddiæœßهاييكσ'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    U&'(^|[^\0620-\064A])(?:[وفبك]?ال|لل)(?=[\0620-\064A]{3})', '\1', 'g')
  end
$$;

-- As before. Letters of such a script that a person types together stand together in what is found, as in quotes. One letter
-- before an apostrophe does not count: "l'eau" finds "d'eau".
create or replace function search_query(words text) returns tsquery immutable strict parallel safe language sql as $$
  select case when octet_length(q) = length(q) then websearch_to_tsquery('english', q)
    when q ~ '(^|[[:space:]])-' then websearch_to_tsquery('english', fold_search(q))
    else websearch_to_tsquery('english', q) || websearch_to_tsquery('english', fold_search(q)) end
  from regexp_replace(
    case when words ~ '["“”„«»]' then words
      else regexp_replace(words, U&'([\0E00-\0EFF\1000-\109F\1780-\17FF\3040-\30FF\3400-\9FFF\F900-\FAFF\FF66-\FF9F]+)', '"\1"', 'g') end,
    '(^|[[:space:]]-?|["“„«])[[:alpha:]][''’](?=\S)', '\1', 'g') q
$$;

-- The job that makes documents again takes those with these letters; until then a search looks for both forms.
update project_search set folded = false
where document::text ~ U&'[لىیکς\0E00-\0EFF\1000-\109F\1780-\17FF\3040-\30FF\3400-\9FFF]';

-- compatible
-- As before, and Arabic letters that people write for each other are one: teh marbuta and heh, alef with wasla and without.
create or replace function fold_search(words text) returns text immutable strict parallel safe language sql as $$
  select case when octet_length(words) = length(words) then lower(words) else
    replace(replace(replace(
      translate(
        lower(regexp_replace(
          regexp_replace(
            translate(normalize(words, NFKD), U&'\2018\2019\02BC\2032\201C\201D\201E\00AB\00BB', '''''''''"""""'),
            U&'[\0300-\036F\0483-\0489\0591-\05BD\05BF\0610-\061A\0640\064B-\065F\0670\1AB0-\1AFF\1DC0-\1DFF\20D0-\20FF]', '', 'g'),
          U&'[\00A1-\00BF\2000-\206F\3000-\303F]', ' ', 'g')),
        'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏØøŁłĐđıÆŒẞةٱ',
        'αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяѐёђѓєѕіїјљњћќѝўџoollddiæœßها'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')
  end
$$;

-- The job that makes documents again takes those with these letters; until then a search looks for both forms.
update project_search set folded = false where document::text ~ '[ةٱ]';

import type { ResourceSql } from './table-resource.js'

// The text is there only where the next publication may not be able to make it again: the project was held, or has changed.
const read = `
  select json_strip_nulls(row_to_json(record))::text from (
    select coalesce(i.project_id, r.project_id) as project, coalesce(i.identifier, r.identifier) as identifier,
        coalesce(i.segment, r.segment) as segment, i.first_release_id as "firstRelease",
        i.first_published_at as "firstPublished", i.withdrawn_at as withdrawn,
        r.content_hash as "contentHash", r.last_updated_at as "lastUpdated",
        case when r.verdict = 'held' or v.dirty then r.text end as text,
        case when r.verdict = 'held' or v.dirty then r.money::text end as money,
        f.content_hash as "feedHash", f.changed_at as "feedChanged"
      from published_identifier i full join rendering r using (project_id)
        left join project_version v on v.project_id = r.project_id
        left join report_feed f on f.project_id = r.project_id
      where i.identifier is not null or r.content_hash is not null or f.content_hash is not null
      order by 1
  ) record`

const members = {
  ...{ project: 'bigint', identifier: 'text', segment: 'integer', firstRelease: 'text' },
  ...{ firstPublished: 'timestamp with time zone', withdrawn: 'timestamp with time zone', contentHash: 'text' },
  ...{ lastUpdated: 'timestamp with time zone', text: 'text', money: 'jsonb', feedHash: 'text' },
  feedChanged: 'timestamp with time zone',
} as const

const records = `json_to_recordset($1::json) as r (${Object.entries(members)
  .map(([name, type]) => `"${name}" ${type === 'jsonb' ? 'text' : type}`)
  .join(', ')})`

/**
 * What was published: identifiers, and hash and date of each activity's text. An import writes renderings without text under
 * a key that no mapping has, so the next publication makes them again and keeps the date of those that come out the same.
 */
export const publishedActivities: ResourceSql = {
  read,
  members,
  stored: {},
  write: [
    `insert into published_identifier (identifier, project_id, segment, first_release_id, first_published_at, withdrawn_at)
      select identifier, project, segment, "firstRelease", "firstPublished", withdrawn from ${records}
      where "firstRelease" is not null`,
    `insert into rendering (project_id, identifier, verdict, text, content_hash, bytes, last_updated_at, errors, warnings,
        infos, notice_counts, notices, input_key, money, segment)
      select project, identifier, 'valid', text, "contentHash", coalesce(octet_length(text), 0), "lastUpdated", 0, 0,
        0, '{}', '[]', '', coalesce(money::jsonb, '{}'), segment from ${records}
      where "contentHash" is not null and exists (select from project p where p.id = r.project)`,
    `insert into report_feed (project_id, text, content_hash, entries, bytes, updated_at, changed_at)
      select project, '', "feedHash", 0, 0, "feedChanged", "feedChanged" from ${records}
      where "feedHash" is not null and exists (select from project p where p.id = r.project)`,
  ],
}

-- compatible
-- Totals of records without a last change were dated to their project's approval, before anything was given. They are
-- dated to the project's newest report, else to the day on which the record first came.

with misdated as (
  select m.project_id, m.month, m.currency, m.source,
    greatest(m.last_on, coalesce((p.date_of_most_recent_report at time zone 'UTC')::date, p.first_seen_on)) as day
  from donation_month m join project p on p.id = m.project_id
  where m.kind = 'opening' and m.source in ('import', 'upstream') and p.modified_date is null
    and m.last_on = (p.approved_date at time zone 'UTC')::date
)
update donation_month m set month = date_trunc('month', d.day)::date, last_on = d.day
from misdated d
where (m.project_id, m.month, m.currency, m.kind, m.source) = (d.project_id, d.month, d.currency, 'opening', d.source)
  and d.day > m.last_on;

import type { Db } from '../../platform/database/connection.js'

/** How many rows were removed, by kind. */
export type Pruned = {
  readonly tokens: number
  readonly codes: number
  readonly auditEvents: number
  readonly wrongClocks: number
  readonly runs: number
  readonly shards: number
  readonly syncs: number
  readonly releases: number
  readonly searchChanges: number
  readonly donors: number
  readonly webhookEvents: number
  readonly processorEntries: number
  readonly importProblems: number
  readonly importChanges: number
  readonly subscriptions: number
  readonly subscriptionMails: number
  readonly followedProjects: number
}

/** What the configuration decides. */
export type PruningRules = {
  readonly keepReleases: number
  /** After how many days donors are erased; undefined: never. */
  readonly donorRetentionDays: number | undefined
}

const day = 86_400_000
// docs/reference/retention.md states these rules.
const rules = {
  tokens: day,
  auditEvents: 400 * day,
  wrongClocks: day,
  searchChanges: day,
  shards: 7 * day,
  runs: 90 * day,
  syncs: 90 * day,
  releases: 400 * day,
  webhookEvents: 90 * day,
  processorEntries: 400 * day,
  importChanges: 90 * day,
  subscriptions: 2 * day,
  subscriptionMails: 90 * day,
}

/**
 * Removes rows that nothing needs any more. Runs stay while a release or a rendering refers to them, releases while they are
 * among the newest `keepReleases`. Safe at any time, from any number of processes.
 */
export async function pruneDatabase(
  db: Db,
  now: Date,
  { keepReleases, donorRetentionDays }: PruningRules,
): Promise<Pruned> {
  const before = (age: number) => new Date(now.getTime() - age)
  const remove = async (sql: string, ...values: unknown[]) => (await db.query(sql, values)).rowCount
  return {
    tokens: await remove('delete from access_token where expires_at < $1', before(rules.tokens)),
    codes: await remove('delete from account_code where expires_at < $1', now),
    // The database keeps younger ones, whatever the clock here says.
    auditEvents: await remove(
      `delete from audit_event where at < least($1::timestamptz, now() - interval '400 days')`,
      before(rules.auditEvents),
    ),
    wrongClocks: await remove('delete from wrong_clock where seen_at < $1', before(rules.wrongClocks)),
    shards: await remove(
      'delete from run_shard s using run r where r.id = s.run_id and r.finished_at < $1',
      before(rules.shards),
    ),
    releases: await remove(
      `delete from release where state <> 'live' and generated_at < $1 and run_id < (
        select min(run_id) from (select run_id from release order by run_id desc limit $2) newest)`,
      before(rules.releases),
      keepReleases,
    ),
    // The newest run stays: it says which instants are done.
    runs: await remove(
      `with old as (
        delete from run r where finished_at < $1 and id < (select max(id) from run)
          and not exists (select from release where run_id = r.id)
          and not exists (select from rendering where run_id = r.id)
        returning state, rendered, trigger)
      , counted as (
        insert into pruned_run as p (state, count, rendered, watchdog)
          select state, count(*), sum(rendered), count(*) filter (where trigger = 'watchdog') from old group by state
          on conflict (state) do update set count = p.count + excluded.count,
            rendered = p.rendered + excluded.rendered, watchdog = p.watchdog + excluded.watchdog)
      select from old`,
      before(rules.runs),
    ),
    // The last good sync stays: the next one starts where it ended.
    syncs: await remove(
      `delete from sync_run where finished_at < $1
        and id < coalesce((select max(id) from sync_run where state = 'done'), 0)`,
      before(rules.syncs),
    ),
    // Longer than any process keeps a list of hits.
    searchChanges: await remove('delete from search_change where marked_at < $1', before(rules.searchChanges)),
    // Events that could not be handled stay: a person has to look at them.
    webhookEvents: await remove(
      `delete from webhook_event where received_at < $1 and state in ('done', 'ignored')`,
      before(rules.webhookEvents),
    ),
    processorEntries: await remove('delete from processor_entry where settled_at < $1', before(rules.processorEntries)),
    // What stood in refused rows may name a person.
    importProblems: await remove(
      `update import set problems = '[]' where started_at < $1 and problems <> '[]'`,
      before(rules.importChanges),
    ),
    importChanges: await remove(
      'delete from import_change c using import i where i.id = c.import_id and i.started_at < $1',
      before(rules.importChanges),
    ),
    // Those that were not confirmed, and those to projects that are not public any more.
    subscriptions: await remove(
      `delete from subscription s where (confirmed_at is null and requested_at < $1)
          or exists (select from published_identifier i where i.project_id = s.project_id and i.withdrawn_at < $1)`,
      before(rules.subscriptions),
    ),
    // That a report was told of is remembered with the project.
    subscriptionMails: await remove(
      `delete from subscription_mail where state not in ('due', 'sending') and report <> '' and next_at < $1`,
      before(rules.subscriptionMails),
    ),
    followedProjects: await remove(
      'delete from followed_project f where not exists (select from subscription s where s.project_id = f.project_id)',
    ),
    // A repeated request is compared with the donor's row while its donation is open.
    donors:
      donorRetentionDays === undefined
        ? 0
        : await remove(
            `delete from donor p using donation d
              where d.id = p.donation_id and d.status <> 'received' and d.received_at < $1
                and not exists (select from donation_plan l where l.donation_id = d.id and l.state in ('starting', 'active'))`,
            before(donorRetentionDays * day),
          ),
  }
}

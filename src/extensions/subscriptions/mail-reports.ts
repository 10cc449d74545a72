import { projectFeedPath } from '../../iati/addresses.js'
import { projectOfFeed } from '../../iati/atom/report-feed.js'
import { parseElement, recordLimits } from '../../kernel/xml/reader.js'
import { type DonorMailing, type MailQueue, mailQueue, wordsIn } from '../../money/receipts/mail-donors.js'
import { recordMail } from '../../money/sql/receipt-mails.js'
import {
  claimSubscriptionMail,
  type DueSubscriptionMail,
  followReports,
  listUnreadProjects,
} from '../../money/sql/subscriptions.js'
import { loadTemplate, type TemplateChoice, templateFor } from '../../platform/mail/load-template.js'
import type { Mailed } from '../../platform/mail/mailing.js'
import type { ReadableRelease, ReleaseReader } from '../../release/read/release-reader.js'

/** What the templates of messages to subscribers may name, by message. */
const fields = {
  subscription: ['platform', 'project', 'confirmLink'],
  'progress-report': ['platform', 'project', 'title', 'date', 'author', 'reportLink', 'projectLink', 'endLink'],
} as const

/** Ends with an error where a template cannot be used. Throws `configuration-invalid`. */
export async function checkReportTemplates(choice: TemplateChoice): Promise<void> {
  for (const [message, names] of Object.entries(fields)) await loadTemplate(message, names, choice)
}

const projectsAtOnce = 500
// Of a project in one release: an import of old reports fills no mailbox.
const mostReports = 5
const mostAnHour = 2_000
// The next minute goes on: receipts wait for the same workers.
const longestMs = 40_000

export type ReportMailing = DonorMailing & { readonly releases: ReleaseReader }

/**
 * Mails subscribers what is due: the link by which they confirm, and each report that the live release has and the releases
 * before it did not. See `mailQueue`.
 */
export async function mailReports(mailing: ReportMailing, signal: AbortSignal): Promise<Mailed> {
  const { store, releases, clock } = mailing
  const until = performance.now() + longestMs
  const live = await releases.live()
  if (!live) return { sent: 0, later: 0, ended: 0 }
  // Before any link to confirm is sent, so that nobody who confirms is mailed reports of before.
  for (let isMore = true; isMore && !signal.aborted; ) {
    const projects = await listUnreadProjects(store.db, live.id, projectsAtOnce)
    for (const projectId of projects) {
      const reports = (await readFeed(live, projectId)).reports.map(({ address }) => address)
      await followReports(store.db, { projectId, releaseId: live.id, reports }, { most: mostReports, at: clock() })
    }
    isMore = projects.length === projectsAtOnce
  }
  let feed: { readonly projectId: number; readonly read: Promise<Feed> } | undefined
  const feedOf = (projectId: number) => {
    if (feed?.projectId !== projectId) feed = { projectId, read: readFeed(live, projectId) }
    return feed.read
  }
  const queue: MailQueue<DueSubscriptionMail> = {
    what: 'a message to a subscriber',
    named: ({ id }) => ({ subscriptionId: id }),
    recipient: async (due) => due,
    claim: async (now) =>
      performance.now() < until ? await claimSubscriptionMail(store.db, now, mostAnHour) : undefined,
    record: ({ mailId }, outcome) => recordMail(store.db, 'subscription_mail', mailId, outcome),
    compose: async (due, { details: { project = '', token } }) => {
      const { choice, platform, baseUrl } = mailing
      const { mailId, report, projectId, reference } = due
      const link = `${baseUrl}/subscriptions/${token}`
      const id = `report-${mailId}.${reference.slice(0, 32)}`
      const spoken = { wanted: due.language, choice }
      if (report === '') {
        const { template } = await templateFor('subscription', fields.subscription, spoken)
        return { ...template.render({ platform, project, confirmLink: link }), id }
      }
      const { title, reports } = await feedOf(projectId)
      const found = reports.find(({ address }) => address === report)
      // It was taken back.
      if (!found) return undefined
      const { template, language } = await templateFor('progress-report', fields['progress-report'], spoken)
      const message = template.render({
        ...{ platform, project: title, title: found.title, author: found.author, reportLink: report, endLink: link },
        date: wordsIn(language).day(new Date(found.published)),
        projectLink: `${baseUrl}/${due.language}/projects/${projectId}`,
      })
      // RFC 8058: programs for mail end it by one request.
      const headers = { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
      return { ...message, id, headers }
    },
  }
  return await mailQueue(mailing, queue, signal)
}

type Feed = {
  /** Of the project. */
  readonly title: string
  readonly reports: readonly Readonly<Record<'address' | 'title' | 'author' | 'published', string>>[]
}

/** What the feed of a project says, newest report first. */
async function readFeed(release: ReadableRelease, projectId: number): Promise<Feed> {
  const file = await release.find(projectFeedPath(projectId))
  if (!file) return { title: '', reports: [] }
  const bytes = await file.identity.bytes()
  const reports = parseElement(bytes, recordLimits).children.flatMap(({ name, children }) => {
    if (name !== 'entry') return []
    const text = (child: string) => children.find((one) => one.name === child)?.text ?? ''
    const author = children.find((one) => one.name === 'author')?.children[0]?.text ?? ''
    return [{ address: text('id'), title: text('title'), author, published: text('published') }]
  })
  return { title: projectOfFeed(bytes.toString()), reports }
}

import type { FastifyInstance } from 'fastify'
import type { Operator } from '../../accounts/sql/audit-events.js'
import { describeObstacle, describeUndone, takeImportBack } from '../../catalogue/import/take-back.js'
import { findSource } from '../../catalogue/sql/import-sources.js'
import { confirmFacts } from '../../cli/wiring/assumed-facts.js'
import { compareByHand, endPlanByHand, mailReceiptAgain } from '../../cli/wiring/money-actions.js'
import {
  approveHeld,
  cancelPublication,
  decideSource,
  requestPublication,
  requestSource,
  rollBackTo,
  switchSchedule,
  testAlarm,
} from '../../cli/wiring/operator-actions.js'
import { type Html, html } from '../../http/pages/html.js'
import { ServiceError } from '../../kernel/errors.js'
import { findPlan } from '../../money/sql/donation-plans.js'
import { getRelease, openIndexedRelease } from '../../release/read/list-releases.js'
import { getRun } from '../../work/sql/runs.js'
import { findSchedule } from '../../work/sql/schedules.js'
import { changeSources } from '../sources/change-sources.js'
import { needImport, operatorOf } from './access.js'
import type { ConsoleDeps } from './console-deps.js'
import { commentIn, type FormTokens, givenNumber, senderOf } from './forms.js'
import { confirmationPage } from './pages/confirmation.js'
import { confirmAddress, confirmTitle } from './pages/facts.js'
import { replacement } from './pages/replacement.js'
import { runFacts } from './pages/runs.js'
import { sourceFacts } from './pages/sources.js'

/** Something that an operator may do: a page that asks, whose form does it. */
type Action = {
  readonly address: string
  readonly title: (what: string) => string
  /** What follows, for who is about to decide. */
  readonly consequence: string
  readonly choice?: { readonly name: string; readonly text: string }
  /** What is known of the thing. Throws `not-found`. */
  readonly look?: (deps: ConsoleDeps, what: string) => Promise<Html | undefined>
  readonly act: (deps: ConsoleDeps, what: string, isChosen: boolean, operator: Operator) => Promise<unknown>
  /** Only with a token that may import. */
  readonly imports?: true
  /** What was done, and what comes next. */
  readonly done: (what: string) => string
  /** The page that shows the result of an action. */
  readonly seenAt: (what: string) => string
}

const ofSource = { look: lookAtSource, seenAt: () => '/sources' } as const

const actionList: readonly Action[] = [
  {
    address: '/publish',
    title: () => 'Publish now',
    consequence: 'A run is entered, which the workers take up at once. A guard may hold its release.',
    choice: { name: 'force', text: 'Map every project again, changed or not' },
    act: ({ runtime }, _what, force, operator) => requestPublication(runtime, { force }, operator),
    done: () => 'The run is entered. A worker takes it up within seconds; this list says how it ends.',
    seenAt: () => '/runs',
  },
  {
    address: '/runs/:what/again',
    title: (id) => `Publish again as run ${id} did`,
    consequence:
      'A new run is entered, which maps every project again if that one was to. A guard may hold its release.',
    look: lookAtRun,
    act: async ({ runtime, store }, id, _isChosen, operator) =>
      requestPublication(runtime, { force: (await getRun(store.db, runNumber(id))).force }, operator),
    done: () => 'A new run is entered. A worker takes it up within seconds; this list says how it ends.',
    seenAt: () => '/runs',
  },
  {
    address: '/runs/:what/cancel',
    title: (id) => `Cancel run ${id}`,
    consequence: 'It ends within seconds, unless its release is about to go live. The live release stays.',
    look: lookAtRun,
    act: ({ runtime }, id, _isChosen, operator) => cancelPublication(runtime, runNumber(id), operator),
    done: (id) => `Run ${id} is asked to stop: it ends within seconds as failed, and the live release stays.`,
    seenAt: (id) => `/runs/${id}`,
  },
  {
    address: '/test-alarm',
    title: () => 'Send a test alarm',
    consequence:
      'A worker sends it within a minute, by the ways that alarms take. The overview says what became of it.',
    act: ({ runtime }, _what, _isChosen, operator) => testAlarm(runtime, operator),
    done: () => 'The test is asked for. A worker sends it within a minute; below Alarms stands what became of it.',
    seenAt: () => '/',
  },
  {
    address: confirmAddress,
    title: () => confirmTitle,
    consequence:
      'What the page of facts lists may be published as true of the publisher, by the rules of today. It is asked once.',
    act: ({ runtime }, _what, _isChosen, operator) => confirmFacts(runtime, operator),
    done: () => 'The list is confirmed. What waited for it is published by the next run.',
    seenAt: () => '/facts',
  },
  {
    address: '/releases/:what/approve',
    title: (id) => `Approve release ${id}`,
    consequence: 'The held release goes live exactly as it was built.',
    choice: { name: 'loss', text: 'Give up for ever the published identifiers that it lacks' },
    look: lookAtHeld,
    act: ({ runtime, deliveryOf }, id, acceptLoss, operator) =>
      approveHeld(runtime, deliveryOf, id, { acceptLoss }, operator),
    done: (id) => `Release ${id} is live. Bucket, registry and hub are told within a minute; nothing else waits.`,
    seenAt: () => '/releases',
  },
  {
    address: '/releases/:what/rollback',
    title: (id) => `Roll back to release ${id}`,
    consequence: 'The earlier release is live again until a publication differs from the release that is live now.',
    look: lookAtRelease,
    act: ({ runtime, deliveryOf }, id, _isChosen, operator) => rollBackTo(runtime, deliveryOf, id, operator),
    done: (id) => `Release ${id} is live again. Correct the data, then publish: until then it stays.`,
    seenAt: () => '/releases',
  },
  {
    address: '/schedules/:what/pause',
    title: (name) => `Pause the schedule ${name}`,
    consequence: 'Its instants are left out from now on, and not made up for, until it is resumed.',
    look: lookAtSchedule,
    act: ({ runtime }, name, _isChosen, operator) => switchSchedule(runtime, name, 'paused', operator),
    done: (name) => `The schedule ${name} is paused. Nothing of it runs until you resume it.`,
    seenAt: () => '/',
  },
  {
    address: '/schedules/:what/resume',
    title: (name) => `Resume the schedule ${name}`,
    consequence: 'It is in force again from now on. What it has left out is not made up for.',
    look: lookAtSchedule,
    act: ({ runtime }, name, _isChosen, operator) => switchSchedule(runtime, name, 'resumed', operator),
    done: (name) => `The schedule ${name} is in force. Its next instant stands below Schedules.`,
    seenAt: () => '/',
  },
  {
    address: '/imports/:what/undo',
    title: (id) => `Take import ${id} back`,
    consequence:
      'What it created is removed, and what it changed is as before. A project that is published stays, closed.',
    look: async ({ runtime }, id) =>
      undoneOrNot(await takeImportBack(runtime, runNumber(id), { dryRun: true, operator: nobody })),
    act: async ({ runtime }, id, _isChosen, operator) => {
      const done = await takeImportBack(runtime, runNumber(id), { dryRun: false, operator })
      if ('obstacles' in done)
        throw new ServiceError(
          'import-needed',
          `import ${id} stays: ${done.obstacles.slice(0, 10).map(describeObstacle).join('; ')}`,
        )
    },
    imports: true,
    done: (id) => `Import ${id} is taken back. The next publication shows it to readers.`,
    seenAt: (id) => `/imports/${id}`,
  },
  {
    address: '/donations/:what/receipt',
    title: (id) => `Mail the receipt of donation ${id} again`,
    consequence: 'A worker mails it to the donor within a minute, with the same number.',
    act: ({ runtime }, id, _isChosen, operator) => mailReceiptAgain(runtime, runNumber(id), operator),
    done: (id) => `The receipt of donation ${id} is to be mailed: a worker does so within a minute.`,
    seenAt: (id) => `/donations/${id}`,
  },
  {
    address: '/donations/:what/follow',
    title: (id) => `Compare donation ${id} with the processor`,
    consequence:
      'The processor is asked for the charge, and the books are brought in line with it where that is clear.',
    act: ({ runtime, payments }, id, _isChosen, operator) => compareByHand(runtime, payments, runNumber(id), operator),
    done: (id) => `Donation ${id} is compared. Below stands what the books have now.`,
    seenAt: (id) => `/donations/${id}`,
  },
  {
    address: '/plans/:what/end',
    title: (id) => `End the monthly gift of plan ${id}`,
    consequence: 'Nothing more is charged. The donor is not told.',
    look: async ({ store }, id) => {
      if (!(await findPlan(store.db, runNumber(id)))) throw new ServiceError('not-found', `there is no plan ${id}`)
      return undefined
    },
    act: ({ runtime }, id, _isChosen, operator) => endPlanByHand(runtime, runNumber(id), operator),
    done: (id) => `Plan ${id} has ended. Nothing more is charged.`,
    seenAt: () => '/donations',
  },
  {
    address: '/sources/:what/run',
    title: (name) => `Read the source ${name} now`,
    consequence: 'A worker reads it within a minute, as it does by its schedule. A guard may hold its file.',
    ...ofSource,
    act: ({ runtime }, name, _isChosen, operator) => requestSource(runtime, name, operator),
    done: (name) =>
      `The source ${name} is to be read: a worker does so within a minute, and this list says how it ended.`,
  },
  {
    address: '/sources/:what/remove',
    title: (name) => `Remove the source ${name}`,
    consequence: 'It is no longer read. What it has brought stays.',
    ...ofSource,
    act: ({ runtime }, name, _isChosen, operator) => changeSources(runtime, [], [name], operator),
    imports: true,
    done: (name) => `The source ${name} is removed. What it has brought stays.`,
  },
  {
    address: '/sources/:what/approve',
    title: (name) => `Approve the held file of the source ${name}`,
    consequence: 'A worker imports exactly this content within a minute. Another one is compared again.',
    ...ofSource,
    act: ({ runtime }, name, _isChosen, operator) => decideSource(runtime, name, 'approve', operator),
    done: (name) => `The file of ${name} is approved. A worker imports it within a minute.`,
  },
  {
    address: '/sources/:what/refuse',
    title: (name) => `Refuse the held file of the source ${name}`,
    consequence: 'The data stays as it is. The source is left alone until its content is another one.',
    ...ofSource,
    act: ({ runtime }, name, _isChosen, operator) => decideSource(runtime, name, 'refuse', operator),
    done: (name) => `The file of ${name} is refused. The data stays; another content is compared again.`,
  },
]

/** The buttons of the console: the commands of the same names. */
export function actionRoutes(app: FastifyInstance, deps: ConsoleDeps, tokens: FormTokens): void {
  const { log } = deps
  // One action at a time, since each may wait for the publishing lock with a connection of its own.
  let last: Promise<unknown> = Promise.resolve()
  for (const { address, title, consequence, choice, look, act, imports, done: doneAs, seenAt } of actionList) {
    app.get<{ Params: { what?: string } }>(address, async (request, reply) => {
      if (imports) needImport(request)
      const what = request.params.what ?? ''
      const details = await look?.(deps, what)
      const form = { token: tokens.issue(request), operator: operatorOf(request), back: seenAt(what) }
      const page = confirmationPage(title(what), { ...form, consequence, choice, details })
      return tokens.send(reply, undefined, title(what), page)
    })
    app.post<{ Params: { what?: string } }>(address, async (request, reply) => {
      const form = tokens.read(request)
      if (imports) needImport(request)
      const what = request.params.what ?? ''
      const comment = commentIn(form)
      const { actor, origin } = senderOf(request, form)
      const operator = { actor, origin, ...(comment !== '' && { comment }) }
      const done = last.then(() => act(deps, what, form.get(choice?.name ?? '') === 'yes', operator))
      last = done.catch(() => undefined)
      await done
      log.info({ ...operator, address: request.url }, 'done in the console')
      return tokens.lead(reply, seenAt(what), doneAs(what))
    })
  }
}

async function lookAtRelease(deps: ConsoleDeps, id: string): Promise<Html> {
  const { known } = await getRelease(deps, id)
  const live = await deps.releases.live()
  const next = await openIndexedRelease(deps.feedsDir, id)
  return await replacement(live && (await openIndexedRelease(deps.feedsDir, live.id)), next, known.reason)
}

/** Throws `release-refused` for a release about which a person has decided since. */
async function lookAtHeld(deps: ConsoleDeps, id: string): Promise<Html> {
  const { known } = await getRelease(deps, id)
  if (known.state === 'held') return await lookAtRelease(deps, id)
  throw new ServiceError('release-refused', `release ${id} waits for nobody: it is ${known.state}`)
}

const nobody = { actor: 'nobody', origin: 'nowhere' }
const mostObstacles = 50

/** What taking an import back would do, or what stands against it. */
function undoneOrNot(undone: Awaited<ReturnType<typeof takeImportBack>>): Html {
  const lines =
    'obstacles' in undone ? undone.obstacles.slice(0, mostObstacles).map(describeObstacle) : describeUndone(undone)
  const items = lines.map((line) => html`<li>${line}</li>`)
  return 'obstacles' in undone
    ? html`<div class="needs"><p>It stays, since something depends on it:</p><ul>${items}</ul></div>`
    : html`<ul>${items}</ul>`
}

async function lookAtRun({ store }: ConsoleDeps, id: string): Promise<Html> {
  return runFacts(await getRun(store.db, runNumber(id)))
}

/** The number in an address; 0, which no run has, for anything else. */
function runNumber(text: string): number {
  return givenNumber(text) ?? 0
}

async function lookAtSchedule({ store }: ConsoleDeps, name: string): Promise<undefined> {
  if (!(await findSchedule(store.db, name))) throw new ServiceError('not-found', `there is no schedule ${name}`)
}

async function lookAtSource({ store }: ConsoleDeps, name: string): Promise<Html> {
  const source = await findSource(store.db, name)
  if (!source) throw new ServiceError('not-found', `there is no source ${name}`)
  return sourceFacts(source)
}

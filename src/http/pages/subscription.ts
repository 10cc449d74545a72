import { type Html, html } from './html.js'
import { cut, type Framed, type PageBody } from './page.js'

/** Where the form is sent; below it each subscription has a page. */
export const subscriptionsPath = '/subscriptions'

/** A field that people do not see: what fills it in is a program. */
export const trapField = 'website'

/** On a project's page: who gives an address gets a message with a link. */
export function subscriptionForm({ language, words }: Pick<Framed, 'language' | 'words'>, project: number): Html {
  const { title, email, trap, ask, note } = words.subscription
  return html`<h2 id="by-mail">${title}</h2>
<form class="ask" method="post" action="${subscriptionsPath}"><input type="hidden" name="project" value="${project}"><input type="hidden" name="language" value="${language}">
<label>${email}<input type="email" name="email" required maxlength="254" autocomplete="email" dir="ltr"></label>
<label hidden>${trap}<input name="${trapField}" tabindex="-1" autocomplete="off"></label>
<button>${ask}</button></form>
<p class="kind">${note}</p>`
}

/** What a page about a subscription says. */
export type SubscriptionPage = {
  readonly says: 'asked' | 'wrong' | 'busy' | 'confirm' | 'active' | 'ended' | 'gone'
  /** The title of the project, where it is known. */
  readonly project?: string | undefined
}

/** A page that says what became of a request, or asks to confirm or to end a subscription; without script. */
export function subscriptionPage({ words }: Pick<Framed, 'words'>, { says, project = '' }: SubscriptionPage): PageBody {
  const { [says]: title, yes, end } = words.subscription
  const notes: Readonly<Record<string, string>> = words.subscription
  const note = notes[`${says}Note`]
  const buttons: Readonly<Record<string, Html>> = {
    confirm: html`<button name="confirm" value="yes">${yes}</button>`,
    active: html`<button name="List-Unsubscribe" value="One-Click">${end}</button>`,
  }
  const button = buttons[says] && html`<form class="ask" method="post">${buttons[says]}</form>`
  const of = project && html`<p class="lead" dir="auto">${cut(project, 120)}</p>\n`
  return {
    title,
    description: note ?? title,
    isUnlisted: true,
    main: html`<h1>${title}</h1>
${of || undefined}${note && html`<p>${note}</p>`}
${button}`,
  }
}

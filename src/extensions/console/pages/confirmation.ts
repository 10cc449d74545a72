import { type Html, html } from '../../../http/pages/html.js'

type Confirmation = {
  readonly consequence: string
  readonly choice: { readonly name: string; readonly text: string } | undefined
  readonly token: string
  /** Who signed in; undefined: the page asks for the name. */
  readonly operator: string | undefined
  readonly back: string
  /** What is known of the thing that is about to be changed. */
  readonly details: Html | undefined
}

/** Asks before something is done; its form is sent to the page's own address. */
export function confirmationPage(title: string, asked: Confirmation): Html {
  const { consequence, choice, token, operator, back, details } = asked
  const who =
    operator === undefined
      ? html`<div><label for="name">Your name, for the audit trail</label>
<input id="name" name="name" required maxlength="40" autocomplete="username"></div>`
      : html`<p>The audit trail names you as <strong>${operator}</strong>.</p>`
  const box =
    choice && html`<div><label><input type="checkbox" name="${choice.name}" value="yes"> ${choice.text}</label></div>\n`
  const why = html`<div><label for="comment">Why, for the audit trail</label>
<textarea id="comment" name="comment" rows="2" maxlength="500"></textarea></div>\n`
  return html`<p class="lead">${consequence}</p>
${details}<form class="action" method="post">
<input type="hidden" name="token" value="${token}">
${box}${why}${who}
<button>${title}</button>
</form>
<p><a href="${back}">No, go back</a></p>`
}

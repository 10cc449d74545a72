import { type Html, html } from '../../portal/html.js'

type Confirmation = {
  readonly consequence: string
  readonly choice: { readonly name: string; readonly text: string } | undefined
  readonly token: string
  /** Who signed in; undefined: the page asks for the name. */
  readonly operator: string | undefined
  readonly back: string
}

/** Asks before something is done; its form is sent to the page's own address. */
export function confirmationPage(title: string, { consequence, choice, token, operator, back }: Confirmation): Html {
  const who =
    operator === undefined
      ? html`<div><label for="name">Your name, for the audit trail</label>
<input id="name" name="name" required maxlength="40" autocomplete="username"></div>`
      : html`<p>The audit trail names you as <strong>${operator}</strong>.</p>`
  const box =
    choice && html`<div><label><input type="checkbox" name="${choice.name}" value="yes"> ${choice.text}</label></div>\n`
  return html`<p class="lead">${consequence}</p>
<form class="action" method="post">
<input type="hidden" name="token" value="${token}">
${box}${who}
<button>${title}</button>
</form>
<p><a href="${back}">No, go back</a></p>`
}

import { hash } from 'node:crypto'
import { style } from '../../http/pages/style.js'

/** The stylesheet of all pages, and what only the console has. */
export const consoleStyle = `${style}
td form, td a.button { margin: 0; }
a.button { display: inline-block; background: var(--top); color: var(--on-top); border-radius: .4rem; padding: .3rem .8rem; text-decoration: none; font-weight: 600; }
form + form { margin-top: 1rem; } form:not(.action) :is(input, select) { min-height: 2.8rem; }
form.action { max-width: 30rem; display: grid; gap: .8rem; } form.action input[type=checkbox] { width: auto; }
.needs { border-left: 4px solid var(--out); padding: .2rem 0 .2rem 1rem; }
.state::before { content: ""; display: inline-block; width: .75em; height: .75em; border-radius: 50%; margin-inline-end: .4em; background: var(--line); }
.state.good::before { background: #2a9d5c; } .state.busy::before { background: #3a7bd5; } .state.wait::before { background: #e0a100; border-radius: 0; } .state.bad::before { background: #d13438; clip-path: polygon(50% 0, 100% 100%, 0 100%); border-radius: 0; }
.done { border-left: 4px solid #2a9d5c; padding: .2rem 0 .2rem 1rem; }
.todo { list-style: none; padding: 0; } .todo li { max-width: none; border-left: 4px solid var(--out); padding: .1rem 0 .1rem 1rem; margin-bottom: 1rem; } .todo p { margin: .2rem 0; } .todo h2 { font-size: 1.15rem; margin: 0; }
tbody th, time { overflow-wrap: normal; } tbody th code, .id { white-space: nowrap; }
`

export const consoleStyleAddress = `/style-${hash('sha256', consoleStyle).slice(0, 12)}.css`

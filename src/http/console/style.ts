import { hash } from 'node:crypto'
import { style } from '../portal/style.js'

/** The portal's stylesheet, and what only the console has. */
export const consoleStyle = `${style}
td form, td a.button { margin: 0; }
a.button { display: inline-block; background: var(--top); color: var(--on-top); border-radius: .4rem; padding: .3rem .8rem; text-decoration: none; font-weight: 600; }
form.action { max-width: 30rem; display: grid; gap: .8rem; } form.action input[type=checkbox] { width: auto; }
.needs { border-left: 4px solid var(--out); padding: .2rem 0 .2rem 1rem; }
.stages rect:nth-child(odd) { fill: var(--in); } .stages rect:nth-child(even) { fill: var(--out); }
`

export const consoleStyleAddress = `/style-${hash('sha256', consoleStyle).slice(0, 12)}.css`

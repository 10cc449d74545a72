/** The one stylesheet of all pages. */
export const style = `
:root { color-scheme: light dark; --paper: #fbfaf6; --card: #ffffff; --ink: #1b2427; --soft: #434f57; --line: #dcd8cc; --deep: #0b5d5e; --link: #08565a;
  --in: #12807c; --out: #c85a12; --land: #dfe3d6; --dot: #c85a12; --top: #0b4648; --on-top: #f4fbfa; --badge: #e3efec; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #11181a; --card: #192326; --ink: #e8eeee; --soft: #a9b8bb; --line: #2f3d41; --deep: #6fd0c6; --link: #7fd8cf;
    --in: #3fb6ac; --out: #f0914a; --land: #28363a; --dot: #f0914a; --top: #0a2e30; --on-top: #e9f6f4; --badge: #1f3a3b; } }
* { box-sizing: border-box; } [hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere; }
.wide { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
a { color: var(--link); text-underline-offset: .15em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--out); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; inset-inline-start: -100vw; background: var(--card); color: var(--ink); padding: .6rem 1rem; z-index: 2; }
.skip:focus { inset-inline-start: .5rem; top: .5rem; }
.top { background: var(--top); color: var(--on-top); }
.top .wide { display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: baseline; justify-content: space-between; padding-top: .8rem; padding-bottom: .8rem; }
.top a { color: inherit; text-decoration: none; }
.top a:hover, .top a[aria-current] { text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: .4em; }
.languages { margin: 0; position: relative; } .languages summary { padding: .15rem 0; } .languages summary { color: inherit; } .languages nav { position: absolute; inset-inline-end: 0; z-index: 1; background: var(--top); padding: .5rem 1rem; border-radius: 0 0 .4rem .4rem; } .languages ul { display: block; }
.top .name { font: 700 1.2rem/1.3 Georgia, "Noto Serif", serif; }
.top .logo { height: 2.2rem; width: auto; max-width: 100%; vertical-align: middle; margin-inline-end: .6rem; }
.top .name small { font: 400 .9rem system-ui, sans-serif; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; list-style: none; margin: 0; padding: 0; }
nav a { display: inline-block; padding: .15rem 0; }
p.trial { border-inline-start: 4px solid var(--out); padding: .1rem .7rem; margin: 0 0 1rem; font-size: .9rem; max-width: none; color: var(--soft); }
main.wide { padding-top: 1.2rem; padding-bottom: 3rem; }
h1, h2, h3 { font-family: Georgia, "Noto Serif", serif; line-height: 1.2; text-wrap: balance; }
h1 { font-size: clamp(1.8rem, 4.5vw, 2.8rem); margin: .4rem 0 .6rem; }
h2 { font-size: 1.5rem; margin: 2.2rem 0 .8rem; }
h3 { font-size: 1.1rem; margin: 0 0 .3rem; } .scroll + h3, .halves h3 { margin-top: 1.2rem; }
.lead { font-size: 1.2rem; max-width: 46rem; color: var(--soft); margin: 0 0 1.4rem; }
.kind, .path { color: var(--soft); font-size: .95rem; margin: 0; }
p, li, dd { max-width: 46rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .8rem; margin: 1.2rem 0; }
.tile, .card, .panel { background: var(--card); border: 1px solid var(--line); border-radius: .7rem; }
.tile { padding: .8rem 1rem; }
.tile dt { color: var(--soft); font-size: .9rem; }
.tile dd { margin: 0; font: 700 1.35rem/1.3 Georgia, "Noto Serif", serif; font-variant-numeric: tabular-nums; }
.panel { padding: 1rem 1.2rem; margin: 1rem 0; }
.halves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0 2.5rem; }
.halves > * { min-width: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 16.5rem), 1fr)); gap: 1.1rem; list-style: none; padding: 0; margin: 1rem 0; }
.card { overflow: hidden; display: flex; flex-direction: column; }
.card img, .card .blank { display: block; width: 100%; height: auto; aspect-ratio: 3 / 2; object-fit: cover; background: var(--land); }
.hue0 { --hue: #0b4648; } .hue1 { --hue: #5b3a12; } .hue2 { --hue: #2f4858; } .hue3 { --hue: #4a2f5a; } .hue4 { --hue: #1f5132; } .hue5 { --hue: #6a2a2a; } .hue6 { --hue: #31407a; } .hue7 { --hue: #5a4a00; }
.card .blank { aspect-ratio: 6 / 2; display: grid; place-content: center; padding: 1rem; text-align: center; font: 700 1.3rem/1.2 Georgia, "Noto Serif", serif; color: #fff; background: var(--hue, var(--top)); }
.card div { padding: .8rem 1rem 1rem; display: flex; flex-direction: column; gap: .35rem; flex: 1; } .card .badge { margin-bottom: 0; }
.card :is(h2, h3) { font-size: 1.1rem; margin: 0 0 .3rem; } .card :is(h2, h3) a { color: inherit; }
.card .meter { display: block; width: 100%; height: .4rem; margin-top: .45rem; } .card p:last-child { margin-top: auto; }
.card p { margin: 0; font-size: .92rem; color: var(--soft); }
.badge { display: inline-block; background: var(--badge); color: var(--ink); border-radius: 1rem; padding: .05rem .7rem; font-size: .85rem; margin: 0 0 .35rem; margin-inline-end: .35rem; text-decoration: none; }
a.badge { text-decoration: underline; }
svg.map, svg.chart { direction: ltr; display: block; width: 100%; height: auto; max-height: 26rem; } svg.narrow { display: none; }
@media (max-width: 40rem) { svg.wide { display: none; } svg.narrow { display: block; } }
.land { fill: var(--land); }
.map circle { fill: var(--dot); fill-opacity: .72; stroke: var(--card); stroke-width: 1; }
.map a:hover circle, .map a:focus circle { fill-opacity: 1; stroke: var(--ink); stroke-width: 2; }
.chart text { fill: var(--soft); font: 13px system-ui, sans-serif; }
.chart .bars-in { fill: var(--in); } .chart .bars-out { fill: var(--out); }
.chart path.in { fill: var(--in); fill-opacity: .35; } .chart path.out { fill: none; stroke: var(--out); stroke-width: 2.5; }
.rule { stroke: var(--line); fill: none; } .goal { fill: none; stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 4; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; list-style: none; padding: 0; margin: 0 0 .5rem; font-size: .92rem; }
.legend li::before { content: ""; display: inline-block; width: .9em; height: .9em; border-radius: .2em; margin-inline-end: .45em; vertical-align: -.08em; background: var(--in); }
.legend li.out::before { background: var(--out); } .legend li.own::before { background: var(--ink); } .legend li.left::before { background: var(--land); outline: 1px solid var(--soft); } .legend.plain li::before { display: none; }
.sentence { font: 700 1.35rem/1.35 Georgia, "Noto Serif", serif; margin: .2rem 0 .6rem; max-width: none; } .stack { display: block; width: 100%; height: .9rem; background: var(--land); border-radius: .3rem; margin-bottom: .5rem; } .stack .out { fill: var(--out); } .stack .own { fill: var(--ink); } [dir=rtl] .stack { transform: scaleX(-1); }
.columns { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 3fr); gap: 0 2.5rem; align-items: start; } .columns > div:last-child { grid-column: 1; } .columns aside { grid-column: 2; grid-row: 1 / span 2; position: sticky; top: 1rem; } .columns h2:first-child { margin-top: 1rem; }
.picture { display: block; width: 100%; height: auto; max-height: 22rem; object-fit: cover; border-radius: .8rem; margin-bottom: 1rem; background: var(--land); } aside .panel { margin-top: 0; } aside h2 { font-size: 1.2rem; margin: 1.2rem 0 .4rem; }
@media (max-width: 50rem) { .columns { display: flex; flex-direction: column; align-items: stretch; } .columns aside { position: static; } }
@supports selector(::details-content) { @media (min-width: 50rem) { :is(.search details, .wideopen)::details-content { content-visibility: visible; block-size: auto; } :is(.search, .wideopen) > summary, .search summary { display: none; } } }
.columns svg.wide text { font-size: 17px; }
.legend li.goal::before { background: none; border-top: 2px dashed var(--ink); height: 0; vertical-align: .25em; width: 1.4em; border-radius: 0; }
.bars { list-style: none; padding: 0; margin: 0; }
.bars li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 1rem; padding: .35rem 0; max-width: none; }
.bars svg { grid-column: 1 / -1; width: 100%; height: .35rem; background: var(--land); border-radius: .2rem; }
.bars rect { fill: var(--in); } [dir=rtl] :is(.bars svg, .meter) { transform: scaleX(-1); }
.number { text-align: end; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; background: linear-gradient(90deg, var(--paper) 30%, transparent) 0 / 2.5rem 100% no-repeat local, linear-gradient(270deg, var(--paper) 30%, transparent) 100% / 2.5rem 100% no-repeat local, linear-gradient(90deg, #0005, transparent) 0 / .8rem 100% no-repeat, linear-gradient(270deg, #0005, transparent) 100% / .8rem 100% no-repeat; } 
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
caption { text-align: start; color: var(--soft); font-size: .9rem; padding: .3rem 0; }
th, td { text-align: start; vertical-align: top; padding: .4rem 0; padding-inline-end: .9rem; border-bottom: 1px solid var(--line); }
:is(td, th) a { display: inline-block; }
th.number, td.number { text-align: end; white-space: nowrap; }
tbody th { font-weight: 500; min-width: 9rem; } td { min-width: 7rem; } td.number { min-width: 0; } thead th { overflow-wrap: normal; }
tfoot :is(th, td) { font-weight: 700; border-bottom: 0; }
th button { all: unset; cursor: pointer; text-decoration: underline dotted; text-underline-offset: .3em; }
th button:focus-visible { outline: 3px solid var(--out); outline-offset: 2px; }
th[aria-sort] button::after { content: " \\25B2"; font-size: .7em; } th[aria-sort="descending"] button::after { content: " \\25BC"; }
.filter { margin: .4rem 0; } .filter input { max-width: 20rem; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--link); }
dl.facts { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 5fr); gap: .35rem 1.4rem; margin: 0; }
dl.facts dt { color: var(--soft); } dl.facts dd { margin: 0; grid-column: 2; } dl.facts ul { margin: 0; padding-inline-start: 1.1rem; }
code, pre { direction: ltr; unicode-bidi: isolate; }
code { font: .88em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.photos { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 11rem), 1fr)); gap: .8rem; padding: 0; margin: 0; list-style: none; }
.photos img, .report img { display: block; width: 100%; height: auto; border-radius: .5rem; background: var(--land); }
.hero { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.5rem 2.5rem; align-items: start; }
.hero img { display: block; width: 100%; height: auto; aspect-ratio: 3 / 2; object-fit: cover; border-radius: .8rem; background: var(--land); }
.hero > * { min-width: 0; }
.report { border-inline-start: 3px solid var(--in); padding: 0 0 .2rem; padding-inline-start: 1.1rem; margin: 1.4rem 0; }
.report img { display: inline-block; max-width: min(100%, 12rem); margin-inline-end: .6rem; } .report :is(h1, h2, h4, h5, h6) { font-size: 1.05rem; }
form.search { margin: 1rem 0; } .line { display: grid; grid-template-columns: 1fr auto; gap: .3rem .5rem; } .line label { grid-column: 1 / -1; font-weight: 600; color: var(--ink); }
.filters { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); gap: .8rem; align-items: end; }
form.ask { display: grid; gap: .6rem; max-width: 26rem; justify-items: start; }
label { display: block; font-size: .9rem; color: var(--soft); }
input, select, button { font: inherit; width: 100%; padding: .45rem .6rem; border: 1px solid var(--soft); border-radius: .4rem; background: var(--paper); color: var(--ink); }
button { background: var(--top); color: var(--on-top); border-color: var(--deep); width: auto; cursor: pointer; font-weight: 600; }
.hidden { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; white-space: nowrap; }
a.give { display: inline-block; border: 1px solid var(--deep); background: var(--top); color: var(--on-top); border-radius: .4rem; padding: .55rem 1.1rem; font-weight: 600; }
.story { list-style: none; padding: 0; margin: 1rem 0; border-inline-start: 3px solid var(--line); } .story > li { padding-inline-start: 1.1rem; margin-bottom: .6rem; max-width: none; display: grid; grid-template-columns: minmax(0, 6rem) minmax(0, 1fr); align-items: baseline; }
.story h3 { margin: 0; font-size: 1rem; } .story ul { display: flex; flex-wrap: wrap; gap: 0 1.3rem; list-style: none; margin: 0; padding: 0; } .options { padding: 0; list-style: none; margin: 0 0 .8rem; } .options li { padding: .2rem 0; border-bottom: 1px solid var(--line); }
.chips { display: flex; flex-wrap: wrap; list-style: none; padding: 0; margin: .6rem 0; }
.pager { margin: 1.5rem 0; } .meter { width: 7rem; height: .6rem; background: var(--land); border-radius: .3rem; } .meter rect { fill: var(--in); }
.good { color: var(--in); } pre { padding: .75rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto; }
.bottom { border-top: 1px solid var(--line); color: var(--soft); font-size: .92rem; padding: 1rem 0 2rem; }
@media (max-width: 40rem) { .top .wide { padding-top: .5rem; padding-bottom: .4rem; column-gap: 1rem; } .top > .wide > nav { order: 1; width: 100%; } .top .name small { display: none; } .wide { padding: 0 1rem; }
  .cards { gap: .7rem; } .card { border-inline-start: .35rem solid var(--hue, var(--top)); } .card img, .card .blank { display: none; } .card div { padding: .6rem .8rem .7rem; gap: .2rem; }
  .tiles { grid-template-columns: 1fr 1fr; gap: .5rem; } .tile { padding: .5rem .7rem; } .lead { font-size: 1.1rem; } h2 { margin-top: 1.8rem; } .hero { gap: .5rem; }
  table { font-size: .82rem; } tbody th { min-width: 5.4rem; max-width: 7rem; } td { min-width: 6rem; } th, td { padding-inline-end: .5rem; } }
@media print { .top nav, .bottom nav, .skip, form, .filter, .pager, summary { display: none; } body { background: #fff; color: #000; } details::details-content { content-visibility: visible; } a { color: inherit; } .card, .tile, .panel { break-inside: avoid; } }
`

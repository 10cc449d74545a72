/** The page's style sheet; its hash is in the page's Content-Security-Policy. */
export const indexStyle = `
:root { color-scheme: light dark; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin-bottom: 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
dl { display: flex; flex-wrap: wrap; gap: .75rem 2.5rem; margin: 0; }
dt { font-size: .85rem; opacity: .8; }
dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; font-size: .9rem; padding-bottom: .5rem; }
th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #8886; white-space: nowrap; }
tbody th { font-weight: normal; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { padding: .75rem 1rem; background: #8882; border-radius: .4rem; overflow-x: auto; }
`

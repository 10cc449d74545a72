/** The picture of all pages in a browser's tabs: two bars, what came in and what went out. Within each page, it needs no request. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b4648"/><path fill="#fff" d="M3 13V7h4v6zm6 0V3h4v10z"/></svg>
`

import sanitizeHtml from 'sanitize-html'

// Text, lists, tables, links and pictures stay. Scripts and styles are removed with their content, other elements without it.
const options: sanitizeHtml.IOptions = {
  allowedTags: [
    ...['p', 'br', 'hr', 'div', 'span', 'blockquote', 'pre', 'code', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
    ...['a', 'img', 'figure', 'figcaption', 'b', 'strong', 'i', 'em', 'u', 's', 'small', 'sub', 'sup', 'q', 'cite'],
  ],
  allowedAttributes: {
    a: ['href', 'title'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    th: ['colspan', 'rowspan', 'scope'],
    td: ['colspan', 'rowspan'],
    '*': ['dir', 'lang'],
  },
  // No `data:`, no `javascript:`; relative addresses are relative to the feed's xml:base.
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
}

/**
 * The HTML of a progress report without anything that could run, load or restyle in a client's page. Applied to every report
 * before it is stored; applying it again changes nothing.
 */
export function sanitizeReportHtml(html: string): string {
  return sanitizeHtml(html, options)
}

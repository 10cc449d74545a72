import { element, textElement } from '../../kernel/xml/element.js'
import { writeElement } from '../../kernel/xml/writer.js'
import { projectFeedPath, reportsFeedPath } from '../addresses.js'
import type { FeedConfig } from './report-feed.js'

/** The list of all feeds (OPML 2.0) before the feeds of projects, which have a line each. */
export function feedListHead(config: FeedConfig): string {
  const head = element('head', undefined, [
    textElement('title', `Progress reports: ${config.publisherName}`),
    textElement('docs', 'http://opml.org/spec2.opml'),
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<opml version="2.0">',
    writeElement(head),
    '<body>',
    outline(`Progress reports: ${config.publisherName}`, reportsFeedPath, config),
    '',
  ].join('\n')
}

export function feedListLine(projectId: number, title: string, config: FeedConfig): string {
  return `${outline(title, projectFeedPath(projectId), config)}\n`
}

export const feedListTail = '</body>\n</opml>\n'

function outline(text: string, path: string, { baseUrl }: FeedConfig): string {
  // Readers take Atom under the type of RSS, which is the only one that the specification names.
  return writeElement(element('outline', { type: 'rss', text, title: text, xmlUrl: `${baseUrl}${path}` }))
}

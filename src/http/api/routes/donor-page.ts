import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { isRightToLeft } from '../../../kernel/right-to-left.js'
import { type Html, html } from '../../pages/html.js'

const languages = ['en', 'fr', 'es', 'pt', 'de', 'ar'] as const

/** A language that pages for donors speak. */
export type DonorLanguage = (typeof languages)[number]

/** That a page belongs to a rehearsal. */
export const noMoney: Readonly<Record<DonorLanguage, string>> = {
  en: 'This is a rehearsal. No money moves.',
  fr: "Ceci est une répétition. Aucun argent n'est déplacé.",
  es: 'Esto es un ensayo. No se mueve dinero.',
  pt: 'Isto é um ensaio. Nenhum dinheiro é movido.',
  de: 'Dies ist eine Probe. Es fließt kein Geld.',
  ar: 'هذه تجربة. لا تُنقل أي أموال.',
}

const isSpoken = (language: string | undefined): language is DonorLanguage => languages.some((one) => one === language)

/** The donor's language where it is known and spoken, else the one that the browser asks for, of those that there are. */
export function languageOfPage(request: FastifyRequest, known?: string): DonorLanguage {
  if (isSpoken(known)) return known
  const wanted = new Negotiator(request.raw).language([...languages])
  return isSpoken(wanted) ? wanted : 'en'
}

/** Sends a page for one donor alone; it needs no script. */
export function sendDonorPage(reply: FastifyReply, language: DonorLanguage, title: string, body: Html): FastifyReply {
  return withoutTraces(reply, language)
    .header('vary', 'Accept-Language')
    .header('content-type', 'text/html; charset=utf-8')
    .send(
      html`<!doctype html>
<html lang="${language}"${isRightToLeft(language) ? html` dir="rtl"` : undefined}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body><main>
${body}
</main></body>
</html>
`.html,
    )
}

/** What is for one person alone is kept by no cache and no search engine. */
export function withoutTraces(reply: FastifyReply, language: string): FastifyReply {
  return reply
    .header('content-language', language)
    .header('cache-control', 'no-store')
    .header('x-robots-tag', 'noindex')
}

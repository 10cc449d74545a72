import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { AnswerError, createClient } from 'giving-iati/client'

const { GIVING_URL, GIVING_API_KEY, GIVING_EMAIL, GIVING_PASSWORD, PORT = '3000' } = process.env
const user = { email: GIVING_EMAIL, password: GIVING_PASSWORD }
const giving = createClient({ url: GIVING_URL, apiKey: GIVING_API_KEY, user })

const routes = {
  'GET /': async () => ({ type: 'text/html', body: await readBeside('page.html') }),
  'GET /words': async () => ({ type: 'application/json', body: await readBeside('words.json') }),
  'GET /project': async (_request, query) => answer(await project(query.get('project'))),
  'GET /token': async () => answer((await giving.get('/api/secure/givingservice/clienttoken')).client_token),
  'POST /give': async (request) => answer(await give(await json(request), request)),
}

function readBeside(name) {
  return readFile(new URL(name, import.meta.url))
}

function answer(value) {
  return { type: 'application/json', body: JSON.stringify(value) }
}

async function project(projectId) {
  const { project } = await giving.get('/api/public/projectservice/projects/{projectId}', { path: { projectId } })
  return { title: project.title, options: project.donationOptions?.donationOption ?? [] }
}

async function give(
  { transactionId, amount, currency, monthly, project, email, firstname, lastname, gateway, nonce },
  request,
) {
  const donation = {
    ...{ refcode: 'page', transactionId, email, amount, project: { id: project } },
    ...(currency && { currencyCode: currency }),
    ...(monthly && { recurring: true, frequency: 'monthly' }),
    // For the processor's checks against fraud, and for the mandate of a direct debit.
    ...{ ipAddress: request.socket.remoteAddress, userAgent: request.headers['user-agent'] },
    payment_detail: {
      ...{ firstname, lastname },
      ...{ paymentGateway: gateway, paymentGatewayKey: 'page', paymentGatewayNonce: nonce },
    },
  }
  try {
    const taken = await giving.post('/api/secure/givingservice/donationsclient', { body: { donation } })
    const { checkedOut, receipt, cancelLink } = taken.donation
    return { outcome: checkedOut ? 'paid' : 'pending', receipt: receipt.receiptNumber, cancelLink }
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error
    const { requiresAction, status, entries } = error
    if (requiresAction) return { outcome: 'confirm', clientSecret: requiresAction.clientSecret }
    // 503: whether it was charged is not known yet. The same transactionId is charged once.
    return { outcome: status === 503 ? 'unknown' : 'declined', message: entries[0]?.error_message }
  }
}

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://page')
  const route = routes[`${request.method} ${pathname}`]
  if (!route) return response.writeHead(404).end()
  return route(request, searchParams).then(
    ({ type, body }) => response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(body),
    (error) => {
      console.error(error.message)
      response.writeHead(502).end()
    },
  )
}).listen(PORT, () => console.log(`http://127.0.0.1:${PORT}/`))

import { AnswerError, createClient } from 'giving-client'

const {
  GIVING_URL: url = 'http://127.0.0.1:8080',
  GIVING_EMAIL: email = '',
  GIVING_PASSWORD: password = '',
} = process.env
const user = { email, password }
const { key_response } = await createClient({ url }).post('/api/userservice/keys', { body: { key_request: { user } } })
const client = createClient({ url, apiKey: key_response.api_key, user })

// A walk goes on where a restart of the service interrupted it.
const titles = new Map<number, string>()
for await (const { id, title } of client.records('/api/public/projectservice/all/projects', { query: { limit: 10 } }))
  console.log(titles.set(id, title).size, title)

const search = '/api/public/services/search/projects/summary'
const { numberFound, projects } = (await client.get(search, { query: { q: 'water' } })).search.response
console.log(`${numberFound} projects about water, the best is ${projects?.project?.[0]?.title}`)

// The transaction id makes it safe to send again: it is charged once.
const payment_detail = {
  ...{ firstname: 'Lina', lastname: 'Okoro', paymentGateway: 'braintree' },
  ...{ paymentGatewayKey: 'sandbox_demo_key', paymentGatewayNonce: 'fake-valid-nonce' },
}
const gift = {
  refcode: 'spring',
  transactionId: 'tx-1',
  email,
  project: { id: Math.min(...titles.keys()) },
  payment_detail,
}
const donate = (amount: number) =>
  client.post('/api/secure/givingservice/donationsclient', { body: { donation: { ...gift, amount } } })
console.log('given:', (await donate(25)).donation.amount)
await donate(-1).catch((error) => console.log(error instanceof AnswerError ? [error.status, error.entries] : error))

/**
 * Stand-ins of the libraries that processors give to pages, with the functions that `deploy/donation-page` calls. Radio
 * buttons stand in place of the fields of a card, and a dialog in place of the bank's question, whose answer goes to
 * `window.tellProcessor`.
 */
const choose = `
  const chosen = () => document.querySelector('input[name=way]:checked').value
  const mountWays = (place, ways) => {
    const list = Object.entries(ways).map(([nonce, name], at) =>
      '<label><input type="radio" name="way" value="' + nonce + '"' + (at === 0 ? ' checked' : '') + '> ' + name + '</label>')
    document.querySelector(place).innerHTML = '<fieldset><legend>Way to pay</legend>' + list.join('') + '</fieldset>'
  }
  const askDonor = () => new Promise((resolve) => {
    const dialog = document.createElement('dialog')
    dialog.setAttribute('aria-label', 'Your bank')
    dialog.innerHTML = '<p>Do you pay this?</p><button value="yes">Yes, I pay</button><button value="no">No</button>'
    document.body.append(dialog)
    dialog.addEventListener('click', ({ target }) => {
      if (!target.value) return
      dialog.close()
      dialog.remove()
      resolve(target.value === 'yes')
    })
    dialog.showModal()
  })`

export const stripeScript = `{${choose}
  window.Stripe = (key) => ({
    elements: ({ mode, amount, currency, paymentMethodCreation }) => {
      if (mode !== 'payment' || !(amount > 0) || currency !== 'usd' || paymentMethodCreation !== 'manual') {
        throw new Error('wrong options of elements')
      }
      return {
        create: (type) => ({
          mount: (place) => mountWays(place, {
            pm_card_visa: 'Card', pm_card_authenticationRequired: 'Card whose bank asks',
            'fake-stripe-insufficient_funds-nonce': 'Card without money', pm_sepa_debit_of_the_tests: 'Bank account',
          }),
        }),
        update: ({ amount, setupFutureUsage }) => {
          if (!(amount > 0) || !['off_session', null].includes(setupFutureUsage)) throw new Error('wrong update')
        },
        submit: async () => ({}),
      }
    },
    createPaymentMethod: async ({ elements, params }) =>
      elements && params.billing_details.name ? { paymentMethod: { id: chosen() } } : { error: { message: 'no name' } },
    handleNextAction: async ({ clientSecret }) => {
      const yes = await askDonor()
      await window.tellProcessor(clientSecret, yes)
      return yes ? { paymentIntent: { status: 'succeeded' } } : { error: { message: 'not authenticated' } }
    },
  })
}`

export const braintreeScript = `{${choose}
  window.braintree = {
    dropin: {
      create: async ({ authorization, container, threeDSecure }) => {
        if (!authorization || threeDSecure !== true) throw new Error('wrong options of create')
        mountWays(container, { card: 'Card' })
        return {
          requestPaymentMethod: async ({ threeDSecure: { amount, challengeRequested } }) => {
            if (!(Number(amount) > 0) || typeof challengeRequested !== 'boolean') throw new Error('wrong request')
            const yes = await askDonor()
            return { nonce: yes ? 'fake-three-d-secure-visa-full-authentication-nonce' : 'fake-valid-nonce' }
          },
        }
      },
    },
  }
}`

/**
 * Texts of the checkout in English, whose type all other catalogs share (`locale.ts`). Braces enclose placeholders,
 * such as a name, an amount with its currency, or a time.
 */
export const en = {
  languageName: 'English',
  chooseLanguage: 'Language',
  sandbox: {
    name: 'Sandbox.',
    sentence: 'This is a test: no card is charged and no real money moves.',
  },
  /** Title of the browser tab. */
  title: '{heading} – {amount} to {shop}',
  summary: {
    paymentTo: 'Payment to',
    /** The shop's price plus the fee. */
    parts: '{net} + {fee} fee',
    fee: 'Service fee',
    total: 'Total',
    until: 'You can pay until {time}.',
  },
  steps: {
    label: 'Progress',
    done: '(done)',
  },
  states: {
    choose: { heading: 'How would you like to pay?' },
    single: { heading: 'Pay at {provider}', sentence: 'Your card is charged by {provider}.' },
    nobody: {
      heading: 'This cannot be paid at the moment',
      sentence: 'No payment service can take this payment. Please contact {shop}, or try again later.',
    },
    /** Shown if no provider serves the chosen country. */
    nobodyHere: {
      heading: 'Not available in {country}',
      sentence:
        'No payment service can take this payment from customers in {country}. If you live elsewhere, choose your country. Otherwise, contact {shop}.',
    },
    /** Shown instead of `nobody` if the reason is known. */
    nobodyBelow:
      'No payment service can take this amount. Payments are possible from {minimum}. Please contact {shop}.',
    nobodyIn: 'No payment service takes {currency} for this payment. Please contact {shop}.',
    singleCannot: '{provider} cannot take this payment. Please contact {shop}, or try again later.',
    going: {
      heading: 'Taking you to {provider}',
      sentence: 'This takes a few seconds. Nothing has been charged yet.',
    },
    waiting: {
      heading: 'Waiting for your payment at {provider}',
      sentence:
        'Already paid? You don’t need to do anything. Your payment appears here, usually within a few minutes.',
    },
    visitEnded: {
      heading: 'Your {provider} session expired',
      sentence:
        'If {provider} charged your card, don’t pay again: the payment can take a while and appears here. Otherwise, start again.',
    },
    taken: {
      heading: 'Your card is approved',
      sentence: 'Your money is on its way to {shop}.',
    },
    declined: {
      heading: 'Payment declined.\nYou haven’t been charged.',
      sentence: '{provider} says that your payment of {amount} did not go through.',
    },
    underpaid: {
      heading: 'Almost there: pay {missing} to finish',
      sentence: 'Part of your payment arrived. {missing} completes it, the service’s fee included.',
    },
    /** Shown if no provider can charge the rest now. */
    incomplete: {
      heading: 'Your payment is incomplete',
      sentence:
        'Part of your payment arrived; about {missing} is missing. Please don’t pay the full amount again.',
    },
    seen: {
      heading: 'Your payment has arrived',
      sentence: 'We’re sending it to {shop}. You don’t need to do anything.',
    },
    sending: {
      heading: 'Your payment is being sent to {shop}',
      sentence: 'This usually takes less than a minute.',
    },
    held: {
      heading: 'Your payment has arrived, but is delayed',
      sentence:
        'Your {amount} could not be sent to {shop} yet. The money is safe, and we keep trying. ' +
        'Please don’t pay again. If the delay continues, contact {shop} and give the reference below.',
    },
    paid: {
      heading: 'Paid',
      sentence: '{shop} has received your payment. Thank you. You can come back to this receipt at any time.',
    },
    canceled: {
      heading: 'This checkout was canceled',
      sentence:
        'No money arrived. To pay {amount}, start again at {shop}. If your card was charged, give {shop} the reference below.',
    },
    expired: {
      heading: 'This checkout has expired',
      sentence:
        'No money arrived in time. To pay {amount}, start again at {shop}. If your card was charged, give {shop} the reference below.',
    },
    closedWithMoney: {
      heading: 'Your payment needs attention',
      sentence:
        'About {received} of {amount} arrived, too late or only in part. ' +
        'The money is held for {shop}. Contact {shop} and give the reference below. Please don’t pay again.',
    },
    closedAndReleased: {
      heading: '{shop} received your money',
      sentence:
        'About {received} of {amount} arrived, too late or only in part, so this checkout does not count as paid. ' +
        'Contact {shop} about your order and give the reference below.',
    },
    /** Added to `paid` if clearly more than the amount due arrived. */
    overpaid:
      'About {received} arrived, {surplus} too much. All of it goes to {shop}. Ask {shop} to refund the difference, and give the reference below.',
    /** Added to `paid` if the full amount arrived more than once. */
    paidTwice:
      'Your payment arrived more than once: about {received} in total. ' +
      'All of it goes to {shop}. Ask {shop} to refund the duplicate, and give the reference below.',
    /** Added to `paid` if another payment is still on its way. */
    paidAgain:
      'Another payment of yours is under way at {holders}. It goes to {shop} as well. ' +
      'Ask {shop} to refund it, and give the reference below.',
    /** Added if a negligible amount arrived. */
    littleArrived: 'A very small amount has arrived. The full amount is still due.',
  },
  actions: {
    continueTo: 'Continue to {provider}',
    continueAt: 'Continue at {provider}',
    startAgainAt: 'Start again at {provider}',
    tryAnotherCard: 'Try another card at {provider}',
    print: 'Print or save the receipt',
    tryAgain: 'Try again',
    backToCheckout: 'Back to the checkout',
  },
  offers: {
    payAt: 'Pay at {provider}',
    pay: 'Pay {amount}',
    through: 'Through {provider}',
    change: 'Change',
    all: 'All {count} services',
    payInstead: 'Pay with {provider} instead',
    /** Heading of the collapsed list below the first offer. */
    otherWays: 'Other ways to pay ({count})',
    card: 'Card',
    lastChoice: 'Your last choice',
    country: 'Where do you live?',
    countryReason: '{provider} needs to know your country.',
    noneChosen: 'Please choose',
    notForThis: 'Not available for this payment',
    onlyFrom: 'Only from {minimum}',
    onlyFromThisIs: 'Only from {minimum}; this is about {value}',
    onlyUpTo: 'Only up to {maximum}',
    onlyCurrency: 'Only for payments in {currency}',
    inactive: 'Not available at the moment',
    silent: 'Temporarily unavailable',
    busy: 'Busy at the moment',
    /** Shown if a provider adds fees to the amount. */
    charges: 'You pay {amount} there, fees included',
    accountNeeded: '{provider} account required',
    usually: 'Usually {time}',
    idNeeded: 'First-time ID check',
  },
  problems: {
    noSuchProvider: 'This payment service does not exist. Please choose one below.',
    otherProvider: 'This checkout is for another payment service.',
    /** Shown when the provider's rate limit is reached. */
    busy: '{provider} is busy at the moment. Your card was not charged. Please try again in a few seconds.',
    unreachable: '{provider} could not be reached. Your card was not charged. Please try again in a moment.',
    orOther: 'Or choose another way to pay.',
    inactive: '{provider} is not available at the moment. Your card was not charged.',
    onlyCurrency: '{provider} does not take payments in {currency}.',
    unserved: '{provider} does not serve customers in your region.',
    belowMinimum: '{amount} is less than {provider} accepts.',
    aboveMaximum: '{amount} is more than {provider} accepts.',
    tooOften: '{provider} was opened too often from this checkout. Please try again in an hour.',
    shopCannotReceive: '{shop} cannot receive payments at the moment. Please contact {shop}.',
    networkDown:
      'The payment network cannot be reached. Your card was not charged. Please try again shortly.',
    countryMissing: 'Please choose your country: {provider} needs to know it.',
    chooseOther: 'Please choose another way to pay.',
    contactShop: 'Please contact {shop}.',
    notFromHere: 'Please use the buttons on this page to continue.',
    other: 'That did not work. Your card was not charged. Please try again in a moment.',
  },
  /** Shown after the customer has paid. */
  wait: {
    /** Label below the time since the approval, or else since the arrival: "1:42 elapsed". */
    elapsed: 'elapsed',
    /** Heading if no card was used. */
    approved: 'Your payment is approved',
    usual: 'Usually done in {time}.',
    once: 'Don’t pay again.',
    approvedBy: 'Approved by {provider}',
    onItsWay: 'On its way',
    sending: '{provider} is sending it to the address of this payment.',
    confirmed: 'Confirmed',
    withShop: 'With {shop}',
    now: 'now',
    close: 'You can close this page.',
    longer: 'Taking longer?',
  },
  receipt: {
    /** Followed by a time. */
    paidTo: 'paid to {shop}',
    for: 'For',
    price: 'Price + fee',
    statement: 'Likely on your statement',
    number: 'Receipt no.',
    proven: 'Proven on {network}.',
    sent: 'The contract sent {usdc} to {shop}.',
    sentWithin: 'The contract sent {usdc} to {shop} within {time} of your card’s approval.',
    transactions: 'See the two transactions',
  },
  /** Shown if the customer was charged but nothing has arrived yet. */
  missing: {
    question: 'Charged, but nothing appears here?',
    usual:
      'Delivery usually takes a few minutes. If the payment service reviews a payment, it can take a day.',
    ask: 'If it takes longer, ask {provider}: it holds your payment until delivery. Give the reference below.',
    support: '{provider} support',
  },
  rest: {
    heading: 'How to pay the rest',
    askShop: 'Ask {shop} how to pay the rest, and give the reference below.',
    fromWallet: 'Send the rest from a wallet',
  },
  facts: {
    reference: 'Reference',
    copyReference: 'Copy the reference',
    referenceAt: 'Reference at {provider}',
    amount: 'Amount',
    time: 'Time',
    arrivedWith: 'Arrived with transaction',
    sentWith: 'Sent to the shop with transaction',
    newTab: '(opens a new tab)',
    details: 'Transaction details',
  },
  assurances: {
    exact: 'You finish at {provider} and pay exactly {amount} there.',
    above: 'You finish at {provider} and pay {amount} there, fees included.',
    statement: '{provider} is likely to appear on your statement.',
    money: 'The money can go only to {shop}, less any service fee.',
    check: 'Check it yourself',
    email: 'We share your email address, {email}, with the payment service.',
    /** Shown if only some offered providers accept an email address. */
    emailToSome: 'If the payment service accepts an email address from us, we share yours, {email}, with it.',
    /** Shown if the link lacks the email address. */
    emailKept:
      'The shop added an email address to this payment, {email}. Your link does not include it, so we don’t share it with the payment service.',
  },
  offline: 'You’re offline. This page continues by itself once the connection is back.',
  messages: {
    unknownPage: {
      heading: 'Page not found',
      sentence:
        'There is nothing at this address. To pay, open the link again from the shop or the message it came with.',
    },
    unknownLink: {
      heading: 'Checkout not found',
      sentence: 'The link may be incomplete. Please open it again from the shop or the message it came with.',
    },
    tooManyRequests: {
      heading: 'Too many requests from your network',
      sentence:
        'You have not lost anything, and this did not charge your card. Please wait a minute, then reload the page.',
    },
    didNotWork: {
      heading: 'That did not work',
      sentence: 'Please go back to the checkout and try again.',
    },
    ourFailure: {
      heading: 'Something went wrong on our side',
      sentence: 'This did not charge your card. Please try again in a moment.',
    },
  },
  shortLink: {
    title: 'Pay {amount} to {shop}',
    description: 'Pay {shop} by card.',
    continue: 'Continue to the checkout',
    see: 'See the payment',
  },
  shop: {
    /** Shown if only the shop can help. */
    contact: 'Contact {shop}',
    support: 'Questions? Contact {shop}',
    terms: 'Terms of {shop}',
    back: 'Back to {shop}',
    leadsTo: 'This link opens {host}.',
    automatic: 'You’ll be taken to {host} in {seconds} seconds.',
    stay: 'Stay on this page',
  },
  /** Shown on desktops, to continue on a phone. */
  phone: {
    heading: 'Continue on your phone',
    hint: 'Scan this code with your phone’s camera to open this checkout there.',
    code: 'QR code of this checkout',
  },
  /** Payment from a wallet, without a provider. */
  direct: {
    heading: 'Send {amount}',
    waiting:
      'Waiting for your transfer. It counts once it’s final on the network, a few seconds to a minute later.',
    partly: '{received} arrived. This is the missing amount.',
    network: 'Network',
    testNetwork: 'Local test network, chain ID {chain}',
    to: 'To',
    contract: 'USDC contract',
    code: 'QR code of the transfer, to scan with a wallet',
    codeWhole: 'Address and amount',
    codeAddress: 'Address only',
    codeAddressHint: 'For apps that cannot read the other code. Enter the amount yourself.',
    openHint: 'Nothing happens? Copy the amount and the address into your wallet.',
    networkMissing: 'Your wallet doesn’t show {network}?',
    networkAdd: 'Add it in the wallet’s network settings with these values.',
    open: 'Open in your wallet',
    copy: 'Copy',
    /** Payment from a browser wallet. */
    payWith: 'Pay with {wallet}',
    sent: 'Your wallet sent the transfer. Waiting for the network.',
    refused: 'Your wallet did not send the transfer. Nothing was paid.',
    onlyThere: 'Send only USDC, and only on {network}. Anything else won’t arrive and may be lost.',
    whole: 'Send the full amount. Network and exchange fees are extra.',
    once: 'Use this address for this payment only.',
  },
  /** Reusable payment page of a shop. */
  page: {
    amount: 'Amount in {currency}',
    amountHint: 'From {minimum} to {maximum}',
    suggested: 'Suggested amounts',
    left: '{count} left',
    amountWrong: 'Enter an amount from {minimum} to {maximum}.',
    amountUnclear: 'Enter the amount with two decimals, for example {example}.',
    optional: '{question} (optional)',
    answerHint: 'Only {shop} sees your answer.',
    answerMissing: 'Please answer this question.',
    answerTooLong: 'Use one line of at most {count} characters.',
    feeAdded: 'A fee is added. The next page shows the total before you pay.',
    pay: 'Continue to payment',
    busy: 'Too many payments are being started here. Nothing was charged. Please try again in a few minutes.',
    paused: {
      heading: 'This page takes no payments at the moment',
      sentence: 'Nothing was charged. Please contact {shop}, or try again later.',
    },
    ended: { heading: 'This offer has ended' },
    sold_out: { heading: 'Sold out' },
    /** Sentence below the headings `ended` and `sold_out`. */
    noMore: 'This page takes no more payments. Please contact {shop} if you have questions.',
    reserved: {
      heading: 'Sold out for now',
      sentence:
        'Other customers are paying for the last ones. Anything not paid for within {minutes} minutes becomes available again.',
    },
  },
  /** Receipt email. Its rows reuse the page's labels. */
  mail: {
    subject: 'Receipt from {shop}: {amount}',
    paid: 'You have paid {amount} to {shop}.',
    page: 'This receipt as a page',
    questions: 'Questions about your order',
    warning: 'No one will ask you for card details or another payment because of this email.',
    /** Form on the page: one email when the payment ends, to an address that the customer enters. */
    tell: 'We’ll email you when it’s done.',
    told: 'All set: we’ll email you when it’s done.',
    /** Shown if the payment has an email address. */
    own: 'Your receipt comes by email.',
    address: 'Your email address',
    send: 'Email me',
    once: 'Used for this one email, then deleted. {shop} doesn’t see it.',
    another: 'Use another address',
    receipt: 'Get this receipt by email',
    coming: 'Your receipt is on its way by email.',
    wrong: 'Enter an email address such as name@example.com.',
    tooOften: 'No more emails can be requested here right now. Please try again later.',
    /** At the end of the email that `tell` promises. */
    asked:
      'You get this one email because your address was entered on the page of this payment. It is deleted now.',
  },
};

/**
 * What the checkout says, in English: the catalogue that all others are checked against (`words.ts`). What stands in
 * braces is put in when it is said, and reads on its own: a name, an amount with its currency, a time.
 */
export const en = {
  /** What the language calls itself. */
  languageName: 'English',
  chooseLanguage: 'Language',
  sandbox: {
    name: 'Sandbox.',
    sentence: 'This is a test: no card is charged and no real money moves.',
  },
  /** Of the browser's window. */
  title: '{heading} – {amount} to {shop}',
  summary: {
    paymentTo: 'Payment to',
    /** The shop's price and what was added to it. */
    parts: '{net} + {fee} fee',
  },
  steps: {
    label: 'Progress',
    choose: 'Choose',
    pay: 'Pay at the provider',
    arrived: 'Payment arrived',
    sent: 'Sent to the shop',
    done: '(done)',
  },
  states: {
    choose: {
      heading: 'Choose how to pay',
      sentence: 'Your card is charged by the provider you choose.',
    },
    single: { heading: 'Pay at {provider}', sentence: 'Your card is charged by {provider}.' },
    nobody: {
      heading: 'This cannot be paid at the moment',
      sentence: 'No provider can take this payment. Please contact {shop}, or try again later.',
    },
    nobodyBelow: {
      heading: 'This cannot be paid at the moment',
      sentence:
        'No payment service can take this amount. Payments are possible from {minimum}. Please contact {shop}.',
    },
    singleCannot: {
      heading: 'This cannot be paid at the moment',
      sentence: '{provider} cannot take this payment. Please contact {shop}, or try again later.',
    },
    going: {
      heading: 'Taking you to {provider}',
      sentence: 'This takes a few seconds. Nothing has been charged yet.',
    },
    waiting: {
      heading: 'Waiting for your payment at {provider}',
      sentence:
        'Paid already? Then there is nothing more to do: it shows up here, usually within a few minutes.',
    },
    visitEnded: {
      heading: 'Your visit at {provider} has ended',
      sentence:
        'If {provider} charged your card, do not pay again: delivery can take a while and shows up here. Otherwise you can start again.',
    },
    taken: {
      heading: '{provider} has taken your payment',
      sentence:
        '{provider} says that it is on its way to {shop}. It shows up here, usually within a few minutes; please do not pay again.',
    },
    declined: {
      heading: '{provider} did not take your payment',
      sentence: '{provider} says that it did not go through. You can try again.',
    },
    declinedOfSeveral: {
      heading: '{provider} did not take your payment',
      sentence: '{provider} says that it did not go through. You can try again, or choose another provider.',
    },
    underpaid: {
      heading: 'Too little has arrived',
      sentence: '{received} arrived, {missing} is missing. Please do not pay the whole amount again.',
    },
    seen: {
      heading: 'Your payment has arrived',
      sentence: 'It is about to be sent on to {shop}. You need not do anything.',
    },
    sending: {
      heading: 'Your payment is being sent to {shop}',
      sentence: 'This takes less than a minute as a rule. You may close this page.',
    },
    held: {
      heading: 'Your payment has arrived, but is delayed',
      sentence:
        'It could not be passed on to {shop} yet. It is safe and is tried again; do not pay a second time. If this lasts, contact {shop} and give the reference below.',
    },
    paid: {
      heading: 'Paid',
      sentence: '{shop} has received your payment. Thank you. You can come back to this receipt at any time.',
    },
    canceled: {
      heading: 'This checkout was canceled',
      sentence:
        'Nothing had arrived for it. To pay, start again at {shop}. If your card was charged nevertheless, give {shop} the reference below.',
    },
    expired: {
      heading: 'This checkout has expired',
      sentence:
        'Nothing arrived in time. To pay, start again at {shop}. If your card was charged nevertheless, give {shop} the reference below.',
    },
    closedWithMoney: {
      heading: 'Your payment needs a hand',
      sentence:
        'Something arrived after this checkout was closed, or it was not the whole amount. Please contact {shop} and give the reference below; do not pay again.',
    },
    closedAndReleased: {
      heading: '{shop} has what you sent',
      sentence:
        'It arrived too late or was not the whole amount, so the checkout does not count as paid. Please contact {shop} and give the reference below.',
    },
    /** Added to `paid` where clearly more arrived than the payment costs. */
    overpaid:
      'More has arrived than this payment costs. If your card was charged twice, contact {shop} for a refund and give the reference below.',
    /** Added where a speck of money lies at the address. */
    littleArrived:
      'A little has arrived for this checkout, far from what it costs; the whole amount is still to be paid.',
  },
  actions: {
    continueTo: 'Continue to {provider}',
    continueAt: 'Continue at {provider}',
    startAgainAt: 'Start again at {provider}',
    chooseAnother: 'Choose another provider',
    checkAgain: 'Check again',
    print: 'Print or save the receipt',
    backToCheckout: 'Back to the checkout',
  },
  offers: {
    payAt: 'Pay at {provider}',
    minimum: 'min. {amount}',
    /** What reaches the shop of it, in USDC. */
    delivers: '{amount} arrives',
    best: 'Best value',
    lastChoice: 'Your last choice',
    country: 'Country you live in',
    countryHint: '{provider} asks for it.',
    noneChosen: 'Please choose',
    notForThis: 'Not for this payment',
    onlyFrom: 'Only from {minimum}',
    onlyFromThisIs: 'Only from {minimum}; this is about {value}',
    onlyUpTo: 'Only up to {maximum}',
    onlyCurrency: 'Only for payments in {currency}',
    inactive: 'Not available at the moment',
    silent: 'Does not answer at the moment',
    busy: 'Busy at the moment',
    accountNeeded: 'Needs a {provider} account',
  },
  problems: {
    noSuchProvider: 'There is no such provider. Please choose one below.',
    otherProvider: 'This checkout is for another provider.',
    /** Asked too often. */
    busy: '{provider} is busy at the moment. Your card was not charged. Please try again in a few seconds.',
    busyOfSeveral:
      '{provider} is busy at the moment. Your card was not charged. Please try again in a few seconds or choose another provider.',
    unreachable: '{provider} could not be reached. Your card was not charged. Please try again in a moment.',
    unreachableOfSeveral:
      '{provider} could not be reached. Your card was not charged. Please try again in a moment, or choose another provider.',
    inactive: '{provider} is not available at the moment. Your card was not charged.',
    onlyCurrency: '{provider} does not take payments in {currency}.',
    belowMinimum: '{amount} is less than {provider} accepts.',
    aboveMaximum: '{amount} is more than {provider} accepts.',
    tooOften: '{provider} was opened too often from this checkout. Please try again in an hour.',
    shopCannotReceive: '{shop} cannot receive payments at the moment. Please contact {shop}.',
    networkDown:
      'The payment network cannot be reached. Your card was not charged. Please try again shortly.',
    countryMissing: 'Please choose your country: {provider} asks for it.',
    notFromHere: 'Please use the buttons on this page to go on.',
    other: 'That did not work. Your card was not charged. Please try again in a moment.',
  },
  /** Charged, and nothing arrived yet. */
  missing: {
    question: 'Charged, but nothing shows up here?',
    usual: 'Delivery usually takes a few minutes; when the provider checks a payment, it can take a day.',
    ask: 'If it takes longer, ask {provider}: it holds your payment until it is delivered. Give the reference below.',
    support: 'Support of {provider}',
  },
  /** How to add what is missing. */
  rest: {
    heading: 'How to add the rest',
    askShop: 'Ask {shop} how to pay the rest, and give the reference below.',
    fromWallet: 'Send the rest from a wallet',
    howTo:
      'Send {missing} on the Polygon network to this address. Only USDC on Polygon counts; it is added to what has arrived, and this page follows by itself.',
    address: 'Address on Polygon',
  },
  facts: {
    reference: 'Reference',
    referenceAt: 'Reference at {provider}',
    paidTo: 'Paid to',
    amount: 'Amount',
    madeUpOf: 'Made up of',
    chargedBy: 'Card charged by',
    time: 'Time',
    arrivedWith: 'Arrived with transaction',
    sentWith: 'Sent to the shop with transaction',
    newTab: '(opens a new tab)',
  },
  assurances: {
    card: "You enter your card at the provider, never on this page. Its name, not the shop's, is likely to be on your statement.",
    price:
      'The provider shows what it charges, its own fee included, before you confirm. It may ask who you are.',
    delivery: 'It delivers the payment to {shop} as USDC (digital dollars).',
    email: 'We share your e-mail address, {email}, with the provider.',
    /** To a visitor whose link does not carry it. */
    emailKept:
      'The shop has added an e-mail address to this payment, {email}. Your link does not include it, so the provider is not given it.',
  },
  offline: 'No connection at the moment. This page goes on by itself once it is back.',
  messages: {
    unknownLink: {
      heading: 'There is no checkout here',
      sentence: 'The link may be incomplete. Please open it again from the shop or the message it came with.',
    },
    tooManyRequests: {
      heading: 'Too many requests from your network',
      sentence:
        'Nothing is lost and nothing was charged by this. Please wait a minute and load the page again.',
    },
    onlyByButton: {
      heading: 'Please start from the checkout',
      sentence: 'This address works only by the button on the checkout page.',
    },
    didNotWork: {
      heading: 'That did not work',
      sentence: 'Please go back to the checkout and try again.',
    },
    ourFailure: {
      heading: 'Something went wrong on our side',
      sentence: 'Your card was not charged by this. Please try again in a moment.',
    },
  },
  shortLink: {
    title: 'Pay {amount} to {shop}',
    description: 'Pay {shop} by card.',
    continue: 'Continue to the checkout',
    see: 'See the payment',
  },
  /** Ways to the shop. */
  shop: {
    support: 'Questions? Contact {shop}',
    back: 'Back to {shop}',
  },
  /** On a desktop, for those who would rather pay on their phone. */
  phone: {
    heading: 'Continue on your phone',
    hint: 'Scan this code with your phone’s camera to open this checkout there.',
    code: 'QR code of this checkout',
  },
  /** How to pay from a wallet, without a provider. */
  direct: {
    heading: 'Send {amount}',
    waiting:
      'Waiting for your transfer. It counts once the network cannot take it back, seconds to a minute later.',
    partly: '{received} arrived; this is what is missing.',
    network: 'Network',
    testNetwork: 'Local test network, chain {chain}',
    to: 'To',
    contract: 'Contract of USDC',
    code: 'QR code of the transfer, for a wallet that scans it',
    open: 'Open in your wallet',
    onlyThere:
      'Only USDC, and only on {network}: on another network, or as another token, it does not arrive.',
    whole: 'Send the whole amount: what the network or an exchange keeps as its fee comes on top.',
    once: 'The address is for this payment alone. Do not use it again.',
  },
  /** The receipt by e-mail; its rows are named as those of the page. */
  mail: {
    subject: 'Receipt from {shop}: {amount}',
    paid: 'You have paid {amount} to {shop}.',
    page: 'This receipt as a page',
    questions: 'Questions about your order',
    warning: 'Nobody will ask you for card data or for another payment because of this e-mail.',
  },
};

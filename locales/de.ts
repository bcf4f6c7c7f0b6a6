import type { Words } from './locale.ts';

export const de: Words = {
  languageName: 'Deutsch',
  chooseLanguage: 'Sprache',
  sandbox: {
    name: 'Testumgebung.',
    sentence: 'Das ist ein Test: Es wird keine Karte belastet und kein echtes Geld bewegt.',
  },
  title: '{heading} – {amount} an {shop}',
  summary: { paymentTo: 'Zahlung an', parts: '{net} + {fee} Gebühr' },
  steps: {
    label: 'Fortschritt',
    choose: 'Auswählen',
    pay: 'Bezahlen',
    arrived: 'Erhalten',
    sent: 'Beim Shop',
    done: '(erledigt)',
  },
  states: {
    choose: {
      heading: 'Wählen Sie, wie Sie zahlen',
      sentence: 'Ihre Karte wird von dem Anbieter belastet, den Sie wählen.',
    },
    single: { heading: 'Bei {provider} zahlen', sentence: 'Ihre Karte wird von {provider} belastet.' },
    nobody: {
      heading: 'Das kann zurzeit nicht bezahlt werden',
      sentence:
        'Kein Anbieter kann diese Zahlung annehmen. Bitte wenden Sie sich an {shop} oder versuchen Sie es später noch einmal.',
    },
    nobodyBelow: {
      heading: 'Das kann zurzeit nicht bezahlt werden',
      sentence:
        'Für diesen Betrag ist kein Zahlungsdienst verfügbar. Zahlungen sind ab {minimum} möglich. Bitte wenden Sie sich an {shop}.',
    },
    singleCannot: {
      heading: 'Das kann zurzeit nicht bezahlt werden',
      sentence:
        '{provider} kann diese Zahlung nicht annehmen. Bitte wenden Sie sich an {shop} oder versuchen Sie es später noch einmal.',
    },
    going: {
      heading: 'Weiter zu {provider}',
      sentence: 'Das dauert ein paar Sekunden. Es wurde noch nichts belastet.',
    },
    waiting: {
      heading: 'Wir warten auf Ihre Zahlung bei {provider}',
      sentence:
        'Schon bezahlt? Dann ist nichts mehr zu tun: Die Zahlung erscheint hier, meist innerhalb weniger Minuten.',
    },
    visitEnded: {
      heading: 'Ihr Besuch bei {provider} ist beendet',
      sentence:
        'Falls {provider} Ihre Karte belastet hat, zahlen Sie nicht noch einmal: Die Lieferung kann eine Weile dauern und erscheint hier. Andernfalls können Sie neu beginnen.',
    },
    taken: {
      heading: '{provider} hat Ihre Zahlung angenommen',
      sentence:
        '{provider} meldet, dass sie auf dem Weg zu {shop} ist. Sie erscheint hier, meist innerhalb weniger Minuten; bitte zahlen Sie nicht noch einmal.',
    },
    declined: {
      heading: '{provider} hat Ihre Zahlung nicht angenommen',
      sentence: '{provider} meldet, dass sie nicht zustande kam. Sie können es noch einmal versuchen.',
    },
    declinedOfSeveral: {
      heading: '{provider} hat Ihre Zahlung nicht angenommen',
      sentence:
        '{provider} meldet, dass sie nicht zustande kam. Sie können es noch einmal versuchen oder einen anderen Anbieter wählen.',
    },
    underpaid: {
      heading: 'Es ist zu wenig angekommen',
      sentence:
        '{received} sind angekommen, {missing} fehlen. Bitte zahlen Sie nicht den ganzen Betrag noch einmal.',
    },
    seen: {
      heading: 'Ihre Zahlung ist angekommen',
      sentence: 'Sie wird gleich an {shop} weitergeleitet. Sie müssen nichts tun.',
    },
    sending: {
      heading: 'Ihre Zahlung wird an {shop} gesendet',
      sentence: 'Das dauert in der Regel weniger als eine Minute. Sie können diese Seite schließen.',
    },
    held: {
      heading: 'Ihre Zahlung ist angekommen, verzögert sich aber',
      sentence:
        'Sie konnte noch nicht an {shop} weitergeleitet werden. Sie ist sicher, und es wird erneut versucht; zahlen Sie kein zweites Mal. Dauert es an, wenden Sie sich an {shop} und nennen Sie die Referenz unten.',
    },
    paid: {
      heading: 'Bezahlt',
      sentence:
        '{shop} hat Ihre Zahlung erhalten. Vielen Dank. Sie können jederzeit zu diesem Beleg zurückkehren.',
    },
    canceled: {
      heading: 'Dieser Bezahlvorgang wurde abgebrochen',
      sentence:
        'Es war nichts dafür angekommen. Um zu zahlen, beginnen Sie bei {shop} neu. Falls Ihre Karte dennoch belastet wurde, nennen Sie {shop} die Referenz unten.',
    },
    expired: {
      heading: 'Dieser Bezahlvorgang ist abgelaufen',
      sentence:
        'Es kam nichts rechtzeitig an. Um zu zahlen, beginnen Sie bei {shop} neu. Falls Ihre Karte dennoch belastet wurde, nennen Sie {shop} die Referenz unten.',
    },
    closedWithMoney: {
      heading: 'Um Ihre Zahlung muss sich jemand kümmern',
      sentence:
        'Es kam etwas an, nachdem dieser Bezahlvorgang geschlossen war, oder es war nicht der ganze Betrag. Bitte wenden Sie sich an {shop} und nennen Sie die Referenz unten; zahlen Sie nicht noch einmal.',
    },
    closedAndReleased: {
      heading: '{shop} hat erhalten, was Sie gesendet haben',
      sentence:
        'Es kam zu spät oder war nicht der ganze Betrag, deshalb gilt der Vorgang nicht als bezahlt. Bitte wenden Sie sich an {shop} und nennen Sie die Referenz unten.',
    },
    overpaid:
      'Es ist mehr eingegangen, als diese Zahlung kostet. Falls Ihre Karte zweimal belastet wurde, bitten Sie {shop} um eine Erstattung und nennen Sie die Referenz unten.',
    littleArrived:
      'Für diesen Bezahlvorgang ist ein wenig angekommen, weit weniger als er kostet; der ganze Betrag ist noch zu zahlen.',
  },
  actions: {
    continueTo: 'Weiter zu {provider}',
    continueAt: 'Bei {provider} fortfahren',
    startAgainAt: 'Bei {provider} neu beginnen',
    chooseAnother: 'Anderen Anbieter wählen',
    checkAgain: 'Erneut prüfen',
    print: 'Beleg drucken oder speichern',
    backToCheckout: 'Zurück zur Bezahlseite',
  },
  offers: {
    payAt: 'Bei {provider} zahlen',
    minimum: 'ab {amount}',
    delivers: '{amount} kommen an',
    best: 'Günstigstes Angebot',
    lastChoice: 'Ihre letzte Wahl',
    country: 'Land, in dem Sie wohnen',
    countryHint: '{provider} fragt danach.',
    noneChosen: 'Bitte wählen',
    notForThis: 'Nicht für diese Zahlung',
    onlyFrom: 'Erst ab {minimum}',
    onlyFromThisIs: 'Erst ab {minimum}; das hier sind etwa {value}',
    onlyUpTo: 'Nur bis {maximum}',
    onlyCurrency: 'Nur für Zahlungen in {currency}',
    inactive: 'Zurzeit nicht verfügbar',
    silent: 'Antwortet zurzeit nicht',
    busy: 'Zurzeit ausgelastet',
    accountNeeded: 'Erfordert ein {provider}-Konto',
  },
  problems: {
    noSuchProvider: 'Diesen Anbieter gibt es nicht. Bitte wählen Sie unten einen aus.',
    otherProvider: 'Dieser Bezahlvorgang ist für einen anderen Anbieter.',
    busy: '{provider} ist zurzeit ausgelastet. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es in einigen Sekunden noch einmal.',
    busyOfSeveral:
      '{provider} ist zurzeit ausgelastet. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es in einigen Sekunden noch einmal oder wählen Sie einen anderen Anbieter.',
    unreachable:
      '{provider} war nicht erreichbar. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es gleich noch einmal.',
    unreachableOfSeveral:
      '{provider} war nicht erreichbar. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es gleich noch einmal oder wählen Sie einen anderen Anbieter.',
    inactive: '{provider} ist zurzeit nicht verfügbar. Ihre Karte wurde nicht belastet.',
    onlyCurrency: '{provider} nimmt keine Zahlungen in {currency} an.',
    belowMinimum: '{amount} ist weniger, als {provider} annimmt.',
    aboveMaximum: '{amount} ist mehr, als {provider} annimmt.',
    tooOften:
      '{provider} wurde von dieser Bezahlseite aus zu oft geöffnet. Bitte versuchen Sie es in einer Stunde noch einmal.',
    shopCannotReceive: '{shop} kann zurzeit keine Zahlungen empfangen. Bitte wenden Sie sich an {shop}.',
    networkDown:
      'Das Zahlungsnetz ist nicht erreichbar. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es in Kürze noch einmal.',
    countryMissing: 'Bitte wählen Sie Ihr Land: {provider} fragt danach.',
    notFromHere: 'Bitte benutzen Sie die Schaltflächen auf dieser Seite.',
    other:
      'Das hat nicht funktioniert. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es gleich noch einmal.',
  },
  missing: {
    question: 'Belastet, aber hier erscheint nichts?',
    usual:
      'Die Lieferung dauert meist wenige Minuten; wenn der Anbieter eine Zahlung prüft, kann es einen Tag dauern.',
    ask: 'Dauert es länger, fragen Sie {provider}: Dort liegt Ihre Zahlung, bis sie geliefert ist. Nennen Sie die Referenz unten.',
    support: 'Hilfe von {provider}',
  },
  rest: {
    heading: 'So ergänzen Sie den Rest',
    askShop: 'Fragen Sie {shop}, wie Sie den Rest zahlen können, und nennen Sie die Referenz unten.',
    fromWallet: 'Den Rest aus einer Wallet senden',
    howTo:
      'Senden Sie {missing} im Polygon-Netz an diese Adresse. Nur USDC auf Polygon zählt; es wird zu dem addiert, was angekommen ist, und diese Seite folgt von selbst.',
    address: 'Adresse auf Polygon',
  },
  facts: {
    reference: 'Referenz',
    referenceAt: 'Referenz bei {provider}',
    paidTo: 'Bezahlt an',
    amount: 'Betrag',
    madeUpOf: 'Setzt sich zusammen aus',
    chargedBy: 'Karte belastet von',
    time: 'Zeit',
    arrivedWith: 'Angekommen mit Transaktion',
    sentWith: 'An den Shop gesendet mit Transaktion',
    newTab: '(öffnet einen neuen Tab)',
  },
  assurances: {
    card: 'Ihre Karte geben Sie beim Anbieter ein, nie auf dieser Seite. Auf Ihrer Abrechnung steht wahrscheinlich sein Name, nicht der des Shops.',
    price:
      'Bevor Sie bestätigen, zeigt der Anbieter, was er berechnet, samt seiner eigenen Gebühr. Er fragt vielleicht, wer Sie sind.',
    delivery: 'Er liefert die Zahlung als USDC (digitale Dollar) an {shop}.',
    email: 'Wir geben Ihre E-Mail-Adresse {email} an den Anbieter weiter.',
    emailKept:
      'Der Shop hat zu dieser Zahlung eine E-Mail-Adresse angegeben, {email}. Ihr Link enthält sie nicht, deshalb bekommt der Anbieter sie nicht.',
  },
  offline: 'Zurzeit keine Verbindung. Diese Seite macht von selbst weiter, sobald sie zurück ist.',
  messages: {
    unknownLink: {
      heading: 'Hier gibt es keinen Bezahlvorgang',
      sentence:
        'Der Link ist vielleicht unvollständig. Bitte öffnen Sie ihn noch einmal aus dem Shop oder der Nachricht, mit der er kam.',
    },
    tooManyRequests: {
      heading: 'Zu viele Anfragen aus Ihrem Netz',
      sentence:
        'Nichts ist verloren, und es wurde nichts belastet. Bitte warten Sie eine Minute und laden Sie die Seite neu.',
    },
    onlyByButton: {
      heading: 'Bitte beginnen Sie auf der Bezahlseite',
      sentence: 'Diese Adresse funktioniert nur über die Schaltfläche auf der Bezahlseite.',
    },
    didNotWork: {
      heading: 'Das hat nicht funktioniert',
      sentence: 'Bitte gehen Sie zur Bezahlseite zurück und versuchen Sie es noch einmal.',
    },
    ourFailure: {
      heading: 'Bei uns ist etwas schiefgegangen',
      sentence: 'Ihre Karte wurde dadurch nicht belastet. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  shortLink: {
    title: '{amount} an {shop} zahlen',
    description: 'Zahlen Sie {shop} per Karte.',
    continue: 'Weiter zur Bezahlseite',
    see: 'Zahlung ansehen',
  },
  shop: {
    support: 'Fragen? {shop} kontaktieren',
    back: 'Zurück zu {shop}',
  },
  phone: {
    heading: 'Auf dem Handy weitermachen',
    hint: 'Scannen Sie diesen Code mit der Kamera Ihres Handys, um diese Bezahlseite dort zu öffnen.',
    code: 'QR-Code dieser Bezahlseite',
  },
  direct: {
    heading: 'Senden Sie {amount}',
    waiting:
      'Wir warten auf Ihre Überweisung. Sie zählt, sobald das Netzwerk sie nicht mehr zurücknehmen kann, Sekunden bis eine Minute später.',
    partly: '{received} sind angekommen; dies ist, was noch fehlt.',
    network: 'Netzwerk',
    testNetwork: 'Lokales Testnetzwerk, Chain {chain}',
    to: 'An',
    contract: 'USDC-Vertrag',
    code: 'QR-Code der Überweisung, für eine Wallet, die ihn scannt',
    open: 'In Ihrer Wallet öffnen',
    onlyThere:
      'Nur USDC und nur über {network}: über ein anderes Netzwerk oder als anderer Token kommt es nicht an.',
    whole:
      'Senden Sie den ganzen Betrag: Was das Netzwerk oder eine Börse als Gebühr einbehält, kommt hinzu.',
    once: 'Die Adresse gilt nur für diese Zahlung. Verwenden Sie sie nicht noch einmal.',
  },
  mail: {
    subject: 'Beleg von {shop}: {amount}',
    paid: 'Sie haben {amount} an {shop} gezahlt.',
    page: 'Dieser Beleg als Seite',
    questions: 'Fragen zu Ihrer Bestellung',
    warning: 'Niemand wird Sie wegen dieser E-Mail nach Kartendaten oder einer weiteren Zahlung fragen.',
  },
};

import type { Words } from './locale.ts';

export const de: Words = {
  languageName: 'Deutsch',
  chooseLanguage: 'Sprache',
  sandbox: {
    name: 'Testumgebung.',
    sentence: 'Das ist ein Test: Es wird keine Karte belastet und kein echtes Geld bewegt.',
  },
  title: '{heading} – {amount} an {shop}',
  summary: {
    paymentTo: 'Zahlung an',
    parts: '{net} + {fee} Gebühr',
    until: 'Sie können bis {time} zahlen.',
  },
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
      heading: 'Zahlungsart wählen',
      sentence: 'Ihre Karte wird von dem Zahlungsdienst belastet, den Sie wählen.',
    },
    single: {
      heading: 'Bei {provider} zahlen',
      sentence: 'Ihre Karte wird von {provider} belastet.',
    },
    nobody: {
      heading: 'Das kann zurzeit nicht bezahlt werden',
      sentence:
        'Kein Zahlungsdienst kann diese Zahlung annehmen. Bitte wenden Sie sich an {shop} oder versuchen Sie es später noch einmal.',
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
        'Schon bezahlt? Sie müssen nichts tun. Ihre Zahlung erscheint hier, meist innerhalb weniger Minuten.',
    },
    visitEnded: {
      heading: 'Ihre Sitzung bei {provider} ist abgelaufen',
      sentence:
        'Falls {provider} Ihre Karte belastet hat, zahlen Sie nicht noch einmal: Die Zahlung kann etwas dauern und erscheint hier. Andernfalls beginnen Sie neu.',
    },
    taken: {
      heading: 'Zahlung genehmigt. Wir bestätigen sie gerade.',
      sentence:
        '{provider} meldet, dass Ihre Zahlung von {amount} auf dem Weg zu {shop} ist. Sie erscheint hier, meist innerhalb weniger Minuten. Bitte zahlen Sie nicht noch einmal.',
    },
    declined: {
      heading: 'Zahlung abgelehnt. Ihre Karte wurde nicht belastet.',
      sentence:
        '{provider} meldet, dass Ihre Zahlung von {amount} nicht zustande kam. Sie können es noch einmal versuchen.',
    },
    declinedOfSeveral: {
      heading: 'Zahlung abgelehnt. Ihre Karte wurde nicht belastet.',
      sentence:
        '{provider} meldet, dass Ihre Zahlung von {amount} nicht zustande kam. Wählen Sie eine andere Zahlungsart, oder versuchen Sie es noch einmal.',
    },
    underpaid: {
      heading: 'Ihre Zahlung ist unvollständig',
      sentence:
        'Etwa {received} sind angekommen, etwa {missing} fehlen noch. Bitte zahlen Sie nicht den ganzen Betrag noch einmal.',
    },
    seen: {
      heading: 'Ihre Zahlung ist angekommen',
      sentence: 'Wir leiten sie an {shop} weiter. Sie müssen nichts tun.',
    },
    sending: {
      heading: 'Ihre Zahlung wird an {shop} gesendet',
      sentence: 'Das dauert in der Regel weniger als eine Minute. Sie können diese Seite schließen.',
    },
    held: {
      heading: 'Ihre Zahlung ist angekommen, verzögert sich aber',
      sentence:
        'Ihre {amount} konnten noch nicht an {shop} weitergeleitet werden. Das Geld ist sicher, und wir versuchen es weiter. Bitte zahlen Sie nicht noch einmal. Hält die Verzögerung an, wenden Sie sich an {shop} und nennen Sie die Referenz unten.',
    },
    paid: {
      heading: 'Bezahlt',
      sentence:
        '{shop} hat Ihre Zahlung erhalten. Vielen Dank. Sie können jederzeit zu diesem Beleg zurückkehren.',
    },
    canceled: {
      heading: 'Dieser Bezahlvorgang wurde abgebrochen',
      sentence:
        'Es ist kein Geld angekommen. Um {amount} zu zahlen, beginnen Sie bei {shop} neu. Falls Ihre Karte belastet wurde, nennen Sie {shop} die Referenz unten.',
    },
    expired: {
      heading: 'Dieser Bezahlvorgang ist abgelaufen',
      sentence:
        'Es ist nicht rechtzeitig Geld angekommen. Um {amount} zu zahlen, beginnen Sie bei {shop} neu. Falls Ihre Karte belastet wurde, nennen Sie {shop} die Referenz unten.',
    },
    closedWithMoney: {
      heading: 'Ihre Zahlung muss geklärt werden',
      sentence:
        'Etwa {received} von {amount} sind angekommen, zu spät oder nur zum Teil. Das Geld wird für {shop} verwahrt. Wenden Sie sich an {shop} und nennen Sie die Referenz unten. Bitte zahlen Sie nicht noch einmal.',
    },
    closedAndReleased: {
      heading: '{shop} hat Ihr Geld erhalten',
      sentence:
        'Etwa {received} von {amount} sind angekommen, zu spät oder nur zum Teil. Deshalb gilt dieser Vorgang nicht als bezahlt. Wenden Sie sich wegen Ihrer Bestellung an {shop} und nennen Sie die Referenz unten.',
    },
    overpaid:
      'Etwa {received} sind angekommen, {surplus} zu viel. {shop} hat alles erhalten. Bitten Sie {shop}, die Differenz zu erstatten, und nennen Sie die Referenz unten.',
    paidTwice:
      'Ihre Zahlung ist mehr als einmal angekommen: insgesamt etwa {received}. {shop} hat alles erhalten. Bitten Sie {shop}, die doppelte Zahlung zu erstatten, und nennen Sie die Referenz unten.',
    littleArrived: 'Ein sehr kleiner Betrag ist angekommen. Der volle Betrag ist noch offen.',
  },
  actions: {
    continueTo: 'Weiter zu {provider}',
    continueAt: 'Bei {provider} fortfahren',
    startAgainAt: 'Bei {provider} neu beginnen',
    chooseAnother: 'Andere Zahlungsarten',
    checkAgain: 'Erneut prüfen',
    print: 'Beleg drucken oder speichern',
    backToCheckout: 'Zurück zur Bezahlseite',
  },
  offers: {
    payAt: 'Bei {provider} zahlen',
    payWith: '{amount} mit {provider} zahlen',
    otherWays: 'Andere Zahlungsarten ({count})',
    card: 'Karte',
    lastChoice: 'Ihre letzte Wahl',
    country: 'In welchem Land wohnen Sie?',
    countryHint: '{provider} fragt nach Ihrem Land.',
    noneChosen: 'Bitte wählen',
    notForThis: 'Für diese Zahlung nicht verfügbar',
    onlyFrom: 'Erst ab {minimum}',
    onlyFromThisIs: 'Erst ab {minimum}; das hier sind etwa {value}',
    onlyUpTo: 'Nur bis {maximum}',
    onlyCurrency: 'Nur für Zahlungen in {currency}',
    inactive: 'Zurzeit nicht verfügbar',
    silent: 'Vorübergehend nicht verfügbar',
    busy: 'Zurzeit ausgelastet',
    accountNeeded: 'Erfordert ein {provider}-Konto',
    usually: 'Meist {time}',
    idNeeded: 'Ausweis beim ersten Kauf nötig',
  },
  problems: {
    noSuchProvider: 'Diesen Zahlungsdienst gibt es nicht. Bitte wählen Sie unten einen aus.',
    otherProvider: 'Dieser Bezahlvorgang ist für einen anderen Zahlungsdienst.',
    busy: '{provider} ist zurzeit ausgelastet. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es in einigen Sekunden noch einmal.',
    busyOfSeveral:
      '{provider} ist zurzeit ausgelastet. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es in einigen Sekunden noch einmal oder wählen Sie eine andere Zahlungsart.',
    unreachable:
      '{provider} war nicht erreichbar. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es gleich noch einmal.',
    unreachableOfSeveral:
      '{provider} war nicht erreichbar. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es gleich noch einmal oder wählen Sie eine andere Zahlungsart.',
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
    question: 'Abgebucht, aber hier erscheint nichts?',
    usual:
      'Die Zahlung kommt meist innerhalb weniger Minuten an. Wenn der Zahlungsdienst sie prüft, kann es einen Tag dauern.',
    ask: 'Dauert es länger, fragen Sie {provider}: Dort liegt Ihre Zahlung, bis sie weitergeleitet ist. Nennen Sie die Referenz unten.',
    support: 'Hilfe von {provider}',
  },
  rest: {
    heading: 'So zahlen Sie den Rest',
    askShop: 'Fragen Sie {shop}, wie Sie den Rest zahlen können, und nennen Sie die Referenz unten.',
    fromWallet: 'Den Rest aus einer Wallet senden',
    howTo:
      'Senden Sie {missing} im Polygon-Netzwerk an diese Adresse. Nur USDC auf Polygon zählt. Der Betrag wird zu dem addiert, was angekommen ist, und diese Seite aktualisiert sich von selbst.',
    address: 'Adresse auf Polygon',
  },
  facts: {
    reference: 'Referenz',
    referenceAt: 'Referenz bei {provider}',
    paidTo: 'Bezahlt an',
    amount: 'Betrag',
    madeUpOf: 'Zusammensetzung',
    chargedBy: 'Karte belastet von',
    time: 'Zeitpunkt',
    arrivedWith: 'Transaktion des Zahlungseingangs',
    sentWith: 'Transaktion an den Shop',
    newTab: '(öffnet einen neuen Tab)',
    details: 'Details zur Transaktion',
  },
  assurances: {
    card: 'Ihre Kartendaten geben Sie beim Zahlungsdienst ein, nie auf dieser Seite. Auf Ihrer Abrechnung steht wahrscheinlich sein Name, nicht der des Shops.',
    price:
      'Bevor Sie bestätigen, zeigt der Zahlungsdienst den Gesamtbetrag samt seiner Gebühr. Möglicherweise müssen Sie Ihre Identität bestätigen.',
    delivery: 'Der Zahlungsdienst überträgt die Zahlung als USDC (digitale Dollar) an {shop}.',
    email: 'Wir geben Ihre E-Mail-Adresse {email} an den Zahlungsdienst weiter.',
    emailKept:
      'Der Shop hat zu dieser Zahlung eine E-Mail-Adresse angegeben, {email}. Ihr Link enthält sie nicht, deshalb geben wir sie nicht an den Zahlungsdienst weiter.',
  },
  offline: 'Sie sind offline. Sobald die Verbindung wieder besteht, geht es hier automatisch weiter.',
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
    contact: '{shop} kontaktieren',
    support: 'Fragen? {shop} kontaktieren',
    terms: 'AGB von {shop}',
    back: 'Zurück zu {shop}',
    leadsTo: 'Dieser Link führt zu {host}.',
    automatic: 'In {seconds} Sekunden werden Sie zu {host} weitergeleitet.',
    stay: 'Auf dieser Seite bleiben',
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
    partly: '{received} sind angekommen. Dies ist der fehlende Betrag.',
    network: 'Netzwerk',
    testNetwork: 'Lokales Testnetzwerk, Chain {chain}',
    to: 'An',
    contract: 'USDC-Vertrag',
    code: 'QR-Code der Überweisung, für eine Wallet, die ihn scannt',
    open: 'In Ihrer Wallet öffnen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    payWith: 'Mit {wallet} zahlen',
    sent: 'Ihre Wallet hat die Überweisung gesendet. Wir warten auf das Netzwerk.',
    refused: 'Ihre Wallet hat die Überweisung nicht gesendet. Es wurde nichts bezahlt.',
    onlyThere:
      'Senden Sie nur USDC und nur über {network}. Alles andere kommt nicht an und kann verloren gehen.',
    whole: 'Senden Sie den vollen Betrag. Gebühren des Netzwerks oder einer Börse kommen hinzu.',
    once: 'Verwenden Sie diese Adresse nur für diese Zahlung.',
  },
  page: {
    amount: 'Betrag in {currency}',
    amountHint: 'Von {minimum} bis {maximum}',
    amountWrong: 'Geben Sie einen Betrag von {minimum} bis {maximum} ein.',
    amountUnclear: 'Schreiben Sie den Betrag mit zwei Nachkommastellen, zum Beispiel {example}.',
    optional: '{question} (freiwillig)',
    answerHint: 'Nur {shop} sieht Ihre Antwort.',
    answerMissing: 'Bitte beantworten Sie diese Frage.',
    answerTooLong: 'Höchstens {count} Zeichen in einer Zeile.',
    feeAdded: 'Eine Gebühr kommt hinzu. Die nächste Seite zeigt den Gesamtbetrag, bevor Sie zahlen.',
    pay: 'Weiter zur Zahlung',
    busy: 'Hier werden gerade zu viele Zahlungen begonnen. Ihnen wurde nichts berechnet. Bitte versuchen Sie es in einigen Minuten noch einmal.',
    paused: {
      heading: 'Diese Seite nimmt zurzeit keine Zahlungen an',
      sentence:
        'Ihnen wurde nichts berechnet. Bitte wenden Sie sich an {shop} oder versuchen Sie es später noch einmal.',
    },
    ended: {
      heading: 'Dieses Angebot ist beendet',
      sentence: 'Diese Seite nimmt keine Zahlungen mehr an. Bei Fragen wenden Sie sich bitte an {shop}.',
    },
    sold_out: {
      heading: 'Ausverkauft',
      sentence: 'Diese Seite nimmt keine Zahlungen mehr an. Bei Fragen wenden Sie sich bitte an {shop}.',
    },
    reserved: {
      heading: 'Zurzeit ausverkauft',
      sentence:
        'Andere bezahlen gerade die letzten. Was nicht innerhalb von {minutes} Minuten bezahlt ist, wird wieder frei.',
    },
  },
  refund: {
    awaiting_address: {
      heading: '{shop} erstattet Ihnen {amount}',
      sentence:
        'Die Erstattung kommt als USDC (digitale Dollar) im Polygon-Netzwerk. Geben Sie die Adresse Ihrer eigenen Wallet an oder die Adresse, unter der Ihre Börse USDC auf Polygon annimmt.',
    },
    address: 'Ihre Adresse auf Polygon',
    hint: 'Sie beginnt mit 0x und hat 42 Zeichen. Kopieren Sie sie, statt sie abzutippen.',
    wrong:
      'Diese Adresse kann nicht verwendet werden. Kopieren Sie sie erneut aus Ihrer Wallet oder von Ihrer Börse.',
    send: 'Diese Adresse senden',
    once: 'Sie können nur einmal eine Adresse angeben. {shop} prüft sie mit Ihnen vor der Überweisung.',
    notYours: 'Wenn dies nicht Ihre Adresse ist, wenden Sie sich sofort an {shop}.',
    warning:
      'Diese Seite fragt nur nach einer Adresse: nie nach einer Karte, einem Passwort, einer Wiederherstellungsphrase oder einer Zahlung. Wenn Sie keine Erstattung von {shop} erwarten, schließen Sie sie.',
    awaiting_confirmation: {
      heading: 'Ihre Adresse liegt {shop} vor',
      sentence: '{shop} prüft sie mit Ihnen und überweist dann {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} überweist Ihre Erstattung in Kürze',
      sentence: 'Die Adresse ist bestätigt. {shop} überweist {amount} dorthin.',
    },
    paid: {
      heading: 'Ihre Erstattung ist überwiesen',
      sentence: '{shop} hat sie an Ihre Adresse überwiesen.',
    },
    expired: {
      heading: 'Dieser Link ist nicht mehr gültig',
      sentence: 'Bitten Sie {shop} um einen neuen Link, wenn Sie noch eine Erstattung erwarten.',
    },
  },
  mail: {
    subject: 'Beleg von {shop}: {amount}',
    paid: 'Sie haben {amount} an {shop} gezahlt.',
    page: 'Dieser Beleg online',
    questions: 'Fragen zu Ihrer Bestellung',
    warning: 'Niemand wird Sie wegen dieser E-Mail nach Kartendaten oder einer weiteren Zahlung fragen.',
  },
};

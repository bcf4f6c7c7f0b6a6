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
    fee: 'Servicegebühr',
    total: 'Gesamtbetrag',
    until: 'Zahlbar bis {time}.',
  },
  steps: {
    label: 'Fortschritt',
    done: '(erledigt)',
  },
  states: {
    choose: { heading: 'Wie möchten Sie zahlen?' },
    single: {
      heading: 'Bei {provider} zahlen',
      sentence: 'Ihre Karte wird von {provider} belastet.',
    },
    nobody: {
      heading: 'Diese Zahlung ist zurzeit nicht möglich',
      sentence:
        'Kein Zahlungsdienst kann diese Zahlung annehmen. Bitte wenden Sie sich an {shop} oder versuchen Sie es später noch einmal.',
    },
    nobodyHere: {
      heading: 'In {country} nicht möglich',
      sentence:
        'Kein Zahlungsdienst kann diese Zahlung von Kunden in {country} annehmen. ' +
        'Wenn Sie anderswo wohnen, wählen Sie Ihr Land. Sonst wenden Sie sich an {shop}.',
    },
    nobodyBelow:
      'Für diesen Betrag ist kein Zahlungsdienst verfügbar. Zahlungen sind ab {minimum} möglich. Bitte wenden Sie sich an {shop}.',
    nobodyIn: 'Kein Zahlungsdienst nimmt diese Zahlung in {currency} an. Bitte wenden Sie sich an {shop}.',
    singleCannot:
      '{provider} kann diese Zahlung nicht annehmen. Bitte wenden Sie sich an {shop} oder versuchen Sie es später noch einmal.',
    going: {
      heading: 'Sie werden zu {provider} weitergeleitet',
      sentence: 'Das dauert ein paar Sekunden. Ihre Karte wurde noch nicht belastet.',
    },
    waiting: {
      heading: 'Wir warten auf Ihre Zahlung bei {provider}',
      sentence:
        'Schon bezahlt? Sie müssen nichts tun. Ihre Zahlung erscheint hier, meist innerhalb weniger Minuten.',
    },
    visitEnded: {
      heading: 'Ihre Sitzung bei {provider} ist abgelaufen',
      sentence:
        'Falls {provider} Ihre Karte belastet hat, zahlen Sie nicht noch einmal: ' +
        'Die Zahlung kann etwas dauern und erscheint hier. Andernfalls beginnen Sie neu.',
    },
    taken: {
      heading: 'Ihre Kartenzahlung ist bestätigt',
      sentence: 'Ihr Geld ist unterwegs zu {shop}.',
    },
    declined: {
      heading: 'Zahlung abgelehnt.\nEs wurde nichts abgebucht.',
      sentence: '{provider} meldet, dass Ihre Zahlung von {amount} nicht durchgeführt wurde.',
    },
    underpaid: {
      heading: 'Fast geschafft: {missing} fehlen noch',
      sentence:
        'Ein Teil Ihrer Zahlung ist angekommen. Mit {missing} ist sie vollständig, die Gebühr des Zahlungsdienstes eingeschlossen.',
    },
    incomplete: {
      heading: 'Ihre Zahlung ist unvollständig',
      sentence:
        'Ein Teil Ihrer Zahlung ist angekommen; etwa {missing} fehlen noch. Bitte zahlen Sie nicht den ganzen Betrag noch einmal.',
    },
    seen: {
      heading: 'Ihre Zahlung ist angekommen',
      sentence: 'Wir leiten sie an {shop} weiter. Sie müssen nichts tun.',
    },
    sending: {
      heading: 'Ihre Zahlung wird an {shop} weitergeleitet',
      sentence: 'Das dauert in der Regel weniger als eine Minute.',
    },
    held: {
      heading: 'Ihre Zahlung ist da, verzögert sich aber',
      sentence:
        'Ihre Zahlung von {amount} konnte noch nicht an {shop} weitergeleitet werden. Ihr Geld ist sicher, und wir versuchen es weiter. ' +
        'Bitte zahlen Sie nicht noch einmal. Hält die Verzögerung an, wenden Sie sich an {shop} und nennen Sie die Referenz unten.',
    },
    paid: {
      heading: 'Bezahlt',
      sentence:
        '{shop} hat Ihre Zahlung erhalten. Vielen Dank. Sie können jederzeit zu diesem Beleg zurückkehren.',
    },
    canceled: {
      heading: 'Dieser Bezahlvorgang wurde abgebrochen',
      sentence:
        'Es ist kein Geld angekommen. Um {amount} zu zahlen, beginnen Sie bei {shop} neu. ' +
        'Falls Ihre Karte belastet wurde, nennen Sie {shop} die Referenz unten.',
    },
    expired: {
      heading: 'Dieser Bezahlvorgang ist abgelaufen',
      sentence:
        'Es ist nicht rechtzeitig Geld angekommen. Um {amount} zu zahlen, beginnen Sie bei {shop} neu. ' +
        'Falls Ihre Karte belastet wurde, nennen Sie {shop} die Referenz unten.',
    },
    closedWithMoney: {
      heading: 'Ihre Zahlung muss geklärt werden',
      sentence:
        'Etwa {received} von {amount} sind angekommen, zu spät oder nur teilweise. Das Geld wird für {shop} verwahrt. ' +
        'Wenden Sie sich an {shop} und nennen Sie die Referenz unten. Bitte zahlen Sie nicht noch einmal.',
    },
    closedAndReleased: {
      heading: '{shop} hat Ihr Geld erhalten',
      sentence:
        'Etwa {received} von {amount} sind angekommen, zu spät oder nur teilweise. Deshalb gilt dieser Bezahlvorgang nicht als bezahlt. ' +
        'Wenden Sie sich wegen Ihrer Bestellung an {shop} und nennen Sie die Referenz unten.',
    },
    overpaid:
      'Etwa {received} sind angekommen, {surplus} zu viel. Alles geht an {shop}. ' +
      'Bitten Sie {shop}, die Differenz zu erstatten, und nennen Sie die Referenz unten.',
    paidTwice:
      'Ihre Zahlung ist mehr als einmal angekommen: insgesamt etwa {received}. Alles geht an {shop}. ' +
      'Bitten Sie {shop}, die doppelte Zahlung zu erstatten, und nennen Sie die Referenz unten.',
    paidAgain:
      'Eine weitere Zahlung von Ihnen ist bei {holders} unterwegs. Auch sie geht an {shop}. ' +
      'Bitten Sie {shop}, sie zu erstatten, und nennen Sie die Referenz unten.',
    littleArrived: 'Ein sehr kleiner Betrag ist angekommen. Der volle Betrag ist noch offen.',
  },
  actions: {
    continueTo: 'Weiter zu {provider}',
    continueAt: 'Bei {provider} fortfahren',
    startAgainAt: 'Bei {provider} neu beginnen',
    tryAnotherCard: 'Andere Karte bei {provider} versuchen',
    print: 'Beleg drucken oder speichern',
    tryAgain: 'Erneut versuchen',
    backToCheckout: 'Zurück zur Bezahlseite',
  },
  offers: {
    payAt: 'Bei {provider} zahlen',
    pay: '{amount} zahlen',
    through: 'Über {provider}',
    change: 'Ändern',
    all: 'Alle {count} Dienste',
    payInstead: 'Stattdessen mit {provider} zahlen',
    otherWays: 'Andere Zahlungsarten ({count})',
    card: 'Karte',
    lastChoice: 'Ihre letzte Wahl',
    country: 'In welchem Land wohnen Sie?',
    countryReason: '{provider} muss Ihr Land kennen.',
    noneChosen: 'Bitte wählen',
    notForThis: 'Für diese Zahlung nicht verfügbar',
    onlyFrom: 'Erst ab {minimum}',
    onlyFromThisIs: 'Erst ab {minimum}; diese Zahlung entspricht etwa {value}',
    onlyUpTo: 'Nur bis {maximum}',
    onlyCurrency: 'Nur für Zahlungen in {currency}',
    inactive: 'Zurzeit nicht verfügbar',
    silent: 'Vorübergehend nicht verfügbar',
    busy: 'Zurzeit ausgelastet',
    charges: 'Dort zahlen Sie {amount} inklusive Gebühren',
    accountNeeded: 'Erfordert ein {provider}-Konto',
    usually: 'Meist {time}',
    idNeeded: 'Ausweis beim ersten Kauf',
  },
  problems: {
    noSuchProvider: 'Diesen Zahlungsdienst gibt es nicht. Bitte wählen Sie unten einen aus.',
    otherProvider: 'Dieser Bezahlvorgang läuft über einen anderen Zahlungsdienst.',
    busy: '{provider} ist zurzeit ausgelastet. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es in einigen Sekunden noch einmal.',
    unreachable:
      '{provider} war nicht erreichbar. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es gleich noch einmal.',
    orOther: 'Oder wählen Sie eine andere Zahlungsart.',
    inactive: '{provider} ist zurzeit nicht verfügbar. Ihre Karte wurde nicht belastet.',
    onlyCurrency: '{provider} nimmt keine Zahlungen in {currency} an.',
    unserved: '{provider} bedient keine Kunden in Ihrer Region.',
    belowMinimum: '{amount} liegt unter dem Mindestbetrag von {provider}.',
    aboveMaximum: '{amount} liegt über dem Höchstbetrag von {provider}.',
    tooOften:
      '{provider} wurde von dieser Bezahlseite aus zu oft geöffnet. Bitte versuchen Sie es in einer Stunde noch einmal.',
    shopCannotReceive: '{shop} kann zurzeit keine Zahlungen empfangen. Bitte wenden Sie sich an {shop}.',
    networkDown:
      'Das Zahlungsnetzwerk ist nicht erreichbar. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es in Kürze noch einmal.',
    countryMissing: 'Bitte wählen Sie Ihr Land aus: {provider} benötigt diese Angabe.',
    chooseOther: 'Bitte wählen Sie eine andere Zahlungsart.',
    contactShop: 'Bitte wenden Sie sich an {shop}.',
    notFromHere: 'Bitte verwenden Sie die Schaltflächen auf dieser Seite, um fortzufahren.',
    other:
      'Das hat nicht funktioniert. Ihre Karte wurde nicht belastet. Bitte versuchen Sie es gleich noch einmal.',
  },
  wait: {
    elapsed: 'vergangen',
    approved: 'Ihre Zahlung ist bestätigt',
    usual: 'Dauert meist {time}.',
    once: 'Bitte nicht noch einmal bezahlen.',
    approvedBy: 'Bestätigt von {provider}',
    onItsWay: 'Unterwegs',
    sending: '{provider} sendet das Geld an die Adresse dieser Zahlung.',
    confirmed: 'Eingegangen',
    withShop: 'Bei {shop}',
    now: 'jetzt',
    close: 'Sie können diese Seite schließen.',
    longer: 'Dauert es länger?',
  },
  receipt: {
    paidTo: 'bezahlt an {shop}',
    for: 'Für',
    price: 'Preis + Gebühr',
    statement: 'Wohl auf Ihrer Abrechnung',
    number: 'Beleg-Nr.',
    proven: 'Nachgewiesen auf {network}.',
    sent: 'Der Vertrag hat {usdc} an {shop} gesendet.',
    sentWithin:
      'Der Vertrag hat {usdc} innerhalb von {time} nach der Bestätigung Ihrer Karte an {shop} gesendet.',
    transactions: 'Die beiden Transaktionen ansehen',
  },
  missing: {
    question: 'Abgebucht, aber hier erscheint nichts?',
    usual:
      'Die Zahlung kommt meist innerhalb weniger Minuten an. Wenn der Zahlungsdienst sie prüft, kann es einen Tag dauern.',
    ask: 'Dauert es länger, wenden Sie sich an {provider} und nennen Sie die Referenz unten. Dort liegt Ihre Zahlung, bis sie weitergeleitet wird.',
    support: 'Support von {provider}',
  },
  rest: {
    heading: 'So zahlen Sie den Rest',
    askShop: 'Fragen Sie {shop}, wie Sie den Rest zahlen können, und nennen Sie die Referenz unten.',
    fromWallet: 'Den Rest von einer Wallet senden',
  },
  facts: {
    reference: 'Referenz',
    copyReference: 'Referenz kopieren',
    referenceAt: 'Referenz bei {provider}',
    amount: 'Betrag',
    time: 'Zeitpunkt',
    arrivedWith: 'Transaktion des Zahlungseingangs',
    sentWith: 'Transaktion an den Shop',
    newTab: '(öffnet einen neuen Tab)',
    details: 'Details zur Transaktion',
  },
  assurances: {
    exact: 'Sie schließen die Zahlung bei {provider} ab und zahlen dort genau {amount}.',
    above: 'Sie schließen die Zahlung bei {provider} ab und zahlen dort {amount} inklusive Gebühren.',
    statement: 'Auf Ihrer Abrechnung steht wahrscheinlich {provider}.',
    money: 'Das Geld kann nur an {shop} gehen, abzüglich einer etwaigen Servicegebühr.',
    check: 'Selbst prüfen',
    email: 'Wir geben Ihre E-Mail-Adresse {email} an den Zahlungsdienst weiter.',
    emailToSome:
      'Nimmt der Zahlungsdienst eine E-Mail-Adresse von uns an, geben wir Ihre, {email}, an ihn weiter.',
    emailKept:
      'Der Shop hat zu dieser Zahlung eine E-Mail-Adresse angegeben: {email}. ' +
      'Ihr Link enthält sie nicht, deshalb geben wir sie nicht an den Zahlungsdienst weiter.',
  },
  offline: 'Sie sind offline. Sobald die Verbindung wieder besteht, geht es hier automatisch weiter.',
  messages: {
    unknownPage: {
      heading: 'Seite nicht gefunden',
      sentence:
        'Unter dieser Adresse gibt es nichts. Um zu zahlen, öffnen Sie den Link noch einmal im Shop oder in der Nachricht, mit der er kam.',
    },
    unknownLink: {
      heading: 'Bezahlvorgang nicht gefunden',
      sentence:
        'Möglicherweise ist der Link unvollständig. Bitte öffnen Sie ihn noch einmal im Shop oder in der Nachricht, in der Sie ihn erhalten haben.',
    },
    tooManyRequests: {
      heading: 'Zu viele Anfragen aus Ihrem Netzwerk',
      sentence:
        'Es ist nichts verloren gegangen, und Ihre Karte wurde dadurch nicht belastet. Bitte warten Sie eine Minute und laden Sie die Seite neu.',
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
    description: 'Zahlen Sie per Karte an {shop}.',
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
      'Wir warten auf Ihre Transaktion. Sie gilt als eingegangen, sobald sie im Netzwerk endgültig ist. Das dauert einige Sekunden bis zu einer Minute.',
    partly: '{received} sind angekommen. Das ist der fehlende Betrag.',
    network: 'Netzwerk',
    testNetwork: 'Lokales Testnetzwerk, Chain-ID {chain}',
    to: 'An',
    contract: 'USDC-Vertrag',
    code: 'QR-Code der Transaktion, zum Scannen mit einer Wallet',
    codeWhole: 'Adresse und Betrag',
    codeAddress: 'Nur Adresse',
    codeAddressHint: 'Für Apps, die den anderen Code nicht lesen können. Geben Sie den Betrag selbst ein.',
    openHint: 'Es passiert nichts? Kopieren Sie Betrag und Adresse in Ihre Wallet.',
    networkMissing: 'Ihre Wallet zeigt {network} nicht an?',
    networkAdd: 'Fügen Sie es in den Netzwerkeinstellungen der Wallet mit diesen Werten hinzu.',
    open: 'In Ihrer Wallet öffnen',
    copy: 'Kopieren',
    payWith: 'Mit {wallet} zahlen',
    sent: 'Ihre Wallet hat die Transaktion gesendet. Wir warten auf das Netzwerk.',
    refused: 'Ihre Wallet hat die Transaktion nicht gesendet. Es wurde nichts bezahlt.',
    onlyThere:
      'Senden Sie nur USDC und nur über {network}. Alles andere kommt nicht an und kann verloren gehen.',
    whole: 'Senden Sie den vollen Betrag. Gebühren des Netzwerks oder einer Börse kommen hinzu.',
    once: 'Verwenden Sie diese Adresse nur für diese Zahlung.',
  },
  page: {
    amount: 'Betrag in {currency}',
    amountHint: 'Von {minimum} bis {maximum}',
    suggested: 'Vorgeschlagene Beträge',
    left: 'Noch {count} verfügbar',
    amountWrong: 'Geben Sie einen Betrag von {minimum} bis {maximum} ein.',
    amountUnclear: 'Geben Sie den Betrag mit zwei Nachkommastellen ein, zum Beispiel {example}.',
    optional: '{question} (optional)',
    answerHint: 'Nur {shop} sieht Ihre Antwort.',
    answerMissing: 'Bitte beantworten Sie diese Frage.',
    answerTooLong: 'Bitte höchstens {count} Zeichen in einer Zeile.',
    feeAdded: 'Eine Gebühr kommt hinzu. Die nächste Seite zeigt den Gesamtbetrag, bevor Sie zahlen.',
    pay: 'Weiter zur Zahlung',
    busy: 'Hier werden gerade zu viele Zahlungen begonnen. Ihnen wurde nichts berechnet. Bitte versuchen Sie es in einigen Minuten noch einmal.',
    paused: {
      heading: 'Diese Seite nimmt zurzeit keine Zahlungen an',
      sentence:
        'Ihnen wurde nichts berechnet. Bitte wenden Sie sich an {shop} oder versuchen Sie es später noch einmal.',
    },
    ended: { heading: 'Dieses Angebot ist beendet' },
    sold_out: { heading: 'Ausverkauft' },
    noMore: 'Diese Seite nimmt keine Zahlungen mehr an. Bei Fragen wenden Sie sich bitte an {shop}.',
    reserved: {
      heading: 'Zurzeit ausverkauft',
      sentence:
        'Andere Kunden bezahlen gerade die letzten Exemplare. Was nicht innerhalb von {minutes} Minuten bezahlt wird, ist danach wieder verfügbar.',
    },
  },
  mail: {
    subject: 'Beleg von {shop}: {amount}',
    paid: 'Sie haben {amount} an {shop} gezahlt.',
    page: 'Dieser Beleg online',
    questions: 'Fragen zu Ihrer Bestellung',
    warning: 'Wegen dieser E-Mail wird Sie niemand nach Kartendaten oder einer weiteren Zahlung fragen.',
    tell: 'Wir schreiben Ihnen eine E-Mail, sobald es fertig ist.',
    told: 'Notiert: Wir schreiben Ihnen eine E-Mail, sobald es fertig ist.',
    own: 'Ihr Beleg kommt per E-Mail.',
    address: 'Ihre E-Mail-Adresse',
    send: 'E-Mail senden',
    once: 'Nur für diese eine E-Mail, danach gelöscht. {shop} sieht sie nicht.',
    another: 'Andere Adresse verwenden',
    receipt: 'Diesen Beleg per E-Mail erhalten',
    coming: 'Ihr Beleg ist per E-Mail unterwegs.',
    wrong: 'Geben Sie eine E-Mail-Adresse wie name@example.com ein.',
    tooOften:
      'Hier können gerade keine weiteren E-Mails angefordert werden. Bitte versuchen Sie es später noch einmal.',
    asked:
      'Sie erhalten diese eine E-Mail, weil Ihre Adresse auf der Seite dieser Zahlung eingegeben wurde. Sie ist jetzt gelöscht.',
  },
};

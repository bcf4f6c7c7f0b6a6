import type { Words } from './locale.ts';

export const nl: Words = {
  languageName: 'Nederlands',
  chooseLanguage: 'Taal',
  sandbox: {
    name: 'Testomgeving.',
    sentence: 'Dit is een test: er wordt niets van een kaart afgeschreven en er gaat geen echt geld om.',
  },
  title: '{heading} – {amount} aan {shop}',
  summary: {
    paymentTo: 'Betaling aan',
    parts: '{net} + {fee} kosten',
    fee: 'Servicekosten',
    total: 'Totaal',
    until: 'Je kunt betalen tot {time}.',
  },
  steps: {
    label: 'Voortgang',
    done: '(klaar)',
  },
  states: {
    choose: { heading: 'Hoe wil je betalen?' },
    single: {
      heading: 'Betalen bij {provider}',
      sentence: 'Het bedrag wordt afgeschreven door {provider}.',
    },
    nobody: {
      heading: 'Betalen kan op dit moment niet',
      sentence:
        'Geen enkele betaaldienst kan deze betaling accepteren. Neem contact op met {shop} of probeer het later opnieuw.',
    },
    nobodyHere: {
      heading: 'Niet beschikbaar in {country}',
      sentence:
        'Geen betaaldienst kan deze betaling aannemen van klanten in {country}. Woon je ergens anders, kies dan je land. Neem anders contact op met {shop}.',
    },
    nobodyBelow:
      'Geen enkele betaaldienst accepteert dit bedrag. Betalen kan vanaf {minimum}. Neem contact op met {shop}.',
    nobodyIn:
      'Geen enkele betaaldienst accepteert {currency} voor deze betaling. Neem contact op met {shop}.',
    singleCannot:
      '{provider} kan deze betaling niet accepteren. Neem contact op met {shop} of probeer het later opnieuw.',
    going: {
      heading: 'Je wordt doorgestuurd naar {provider}',
      sentence: 'Dit duurt een paar seconden. Er is nog niets afgeschreven.',
    },
    waiting: {
      heading: 'Wachten op je betaling bij {provider}',
      sentence:
        'Al betaald? Je hoeft niets te doen. Je betaling verschijnt hier, meestal binnen een paar minuten.',
    },
    visitEnded: {
      heading: 'Je sessie bij {provider} is verlopen',
      sentence:
        'Heeft {provider} het bedrag afgeschreven? Betaal dan niet opnieuw: de betaling kan even duren en verschijnt hier. Zo niet, begin dan opnieuw.',
    },
    taken: {
      heading: 'Je kaart is goedgekeurd',
      sentence: 'Je geld is onderweg naar {shop}.',
    },
    declined: {
      heading: 'Betaling geweigerd.\nEr is niets afgeschreven.',
      sentence: '{provider} meldt dat je betaling van {amount} niet is gelukt.',
    },
    underpaid: {
      heading: 'Bijna klaar: betaal {missing} om af te ronden',
      sentence:
        'Een deel van je betaling is ontvangen. Met {missing} is die compleet, inclusief de kosten van de dienst.',
    },
    incomplete: {
      heading: 'Je betaling is onvolledig',
      sentence:
        'Een deel van je betaling is ontvangen; er ontbreekt ongeveer {missing}. Betaal niet het hele bedrag opnieuw.',
    },
    seen: {
      heading: 'Je betaling is ontvangen',
      sentence: 'We sturen de betaling door naar {shop}. Je hoeft niets te doen.',
    },
    sending: {
      heading: 'Je betaling wordt doorgestuurd naar {shop}',
      sentence: 'Dit duurt meestal minder dan een minuut.',
    },
    held: {
      heading: 'Je betaling is ontvangen, maar heeft vertraging',
      sentence:
        'Je betaling van {amount} kon nog niet naar {shop} worden doorgestuurd. Je geld is veilig en we blijven het proberen. ' +
        'Betaal niet opnieuw. Blijft de vertraging duren, neem dan contact op met {shop} en geef de referentie hieronder door.',
    },
    paid: {
      heading: 'Betaald',
      sentence:
        '{shop} heeft je betaling ontvangen. Bedankt. Je kunt dit betaalbewijs altijd opnieuw bekijken.',
    },
    canceled: {
      heading: 'Deze betaling is geannuleerd',
      sentence:
        'Er is geen betaling ontvangen. Begin opnieuw bij {shop} om {amount} te betalen. ' +
        'Is er toch iets afgeschreven? Geef {shop} dan de referentie hieronder door.',
    },
    expired: {
      heading: 'Deze betaling is verlopen',
      sentence:
        'Er is niet op tijd een betaling ontvangen. Begin opnieuw bij {shop} om {amount} te betalen. ' +
        'Is er toch iets afgeschreven? Geef {shop} dan de referentie hieronder door.',
    },
    closedWithMoney: {
      heading: 'Je betaling vereist aandacht',
      sentence:
        'Er is ongeveer {received} van {amount} ontvangen, te laat of maar gedeeltelijk. ' +
        'Het geld wordt bewaard voor {shop}. Neem contact op met {shop} en geef de referentie hieronder door. Betaal niet opnieuw.',
    },
    closedAndReleased: {
      heading: '{shop} heeft je geld ontvangen',
      sentence:
        'Er is ongeveer {received} van {amount} ontvangen, te laat of maar gedeeltelijk, dus deze betaling geldt niet als voldaan. ' +
        'Neem contact op met {shop} over je bestelling en geef de referentie hieronder door.',
    },
    overpaid:
      'Er is ongeveer {received} ontvangen, {surplus} te veel. Alles gaat naar {shop}. ' +
      'Vraag {shop} om het verschil terug te betalen en geef de referentie hieronder door.',
    paidTwice:
      'Je betaling is meer dan één keer ontvangen: in totaal ongeveer {received}. Alles gaat naar {shop}. ' +
      'Vraag {shop} om de dubbele betaling terug te betalen en geef de referentie hieronder door.',
    paidAgain:
      'Er is nog een betaling van je onderweg bij {holders}. Ook die gaat naar {shop}. ' +
      'Vraag {shop} om die terug te betalen en geef de referentie hieronder door.',
    littleArrived: 'Er is een heel klein bedrag ontvangen. Het volledige bedrag staat nog open.',
  },
  actions: {
    continueTo: 'Doorgaan naar {provider}',
    continueAt: 'Doorgaan bij {provider}',
    startAgainAt: 'Opnieuw beginnen bij {provider}',
    tryAnotherCard: 'Probeer een andere kaart bij {provider}',
    print: 'Betaalbewijs afdrukken of opslaan',
    tryAgain: 'Opnieuw proberen',
    backToCheckout: 'Terug naar de betaling',
  },
  offers: {
    payAt: 'Betalen bij {provider}',
    pay: '{amount} betalen',
    through: 'Via {provider}',
    change: 'Wijzigen',
    all: 'Alle {count} diensten',
    payInstead: 'Betaal in plaats daarvan met {provider}',
    otherWays: 'Andere betaalmethoden ({count})',
    card: 'Betaalkaart',
    lastChoice: 'Je laatste keuze',
    country: 'In welk land woon je?',
    countryReason: '{provider} moet weten in welk land je woont.',
    noneChosen: 'Maak een keuze',
    notForThis: 'Niet beschikbaar voor deze betaling',
    onlyFrom: 'Alleen vanaf {minimum}',
    onlyFromThisIs: 'Alleen vanaf {minimum}; deze betaling is ongeveer {value}',
    onlyUpTo: 'Alleen tot {maximum}',
    onlyCurrency: 'Alleen voor betalingen in {currency}',
    inactive: 'Op dit moment niet beschikbaar',
    silent: 'Tijdelijk niet beschikbaar',
    busy: 'Op dit moment erg druk',
    charges: 'Daar betaal je {amount}, inclusief kosten',
    accountNeeded: '{provider}-account nodig',
    usually: 'Meestal {time}',
    idNeeded: 'Legitimatie bij de eerste aankoop',
  },
  problems: {
    noSuchProvider: 'Deze betaaldienst bestaat niet. Kies er hieronder een.',
    otherProvider: 'Deze betaling is voor een andere betaaldienst.',
    busy: 'Het is op dit moment erg druk bij {provider}. Er is niets van je kaart afgeschreven. Probeer het over een paar seconden opnieuw.',
    unreachable:
      '{provider} is niet bereikbaar. Er is niets van je kaart afgeschreven. Probeer het zo meteen opnieuw.',
    orOther: 'Of kies een andere betaalmethode.',
    inactive: '{provider} is op dit moment niet beschikbaar. Er is niets van je kaart afgeschreven.',
    onlyCurrency: '{provider} accepteert geen betalingen in {currency}.',
    unserved: '{provider} bedient geen klanten in je regio.',
    belowMinimum: '{amount} is minder dan {provider} accepteert.',
    aboveMaximum: '{amount} is meer dan {provider} accepteert.',
    tooOften: '{provider} is te vaak vanuit deze betaling geopend. Probeer het over een uur opnieuw.',
    shopCannotReceive: '{shop} kan op dit moment geen betalingen ontvangen. Neem contact op met {shop}.',
    networkDown:
      'Het betaalnetwerk is niet bereikbaar. Er is niets van je kaart afgeschreven. Probeer het zo meteen opnieuw.',
    countryMissing: 'Kies je land: {provider} heeft dit nodig.',
    chooseOther: 'Kies een andere manier om te betalen.',
    contactShop: 'Neem contact op met {shop}.',
    notFromHere: 'Gebruik de knoppen op deze pagina om door te gaan.',
    other: 'Dat is niet gelukt. Er is niets van je kaart afgeschreven. Probeer het zo meteen opnieuw.',
  },
  wait: {
    elapsed: 'verstreken',
    approved: 'Je betaling is goedgekeurd',
    usual: 'Duurt meestal {time}.',
    once: 'Betaal niet opnieuw.',
    approvedBy: 'Goedgekeurd door {provider}',
    onItsWay: 'Onderweg',
    sending: '{provider} stuurt het geld naar het adres van deze betaling.',
    confirmed: 'Bevestigd',
    withShop: 'Bij {shop}',
    now: 'nu',
    close: 'Je kunt deze pagina sluiten.',
    longer: 'Duurt het langer?',
  },
  receipt: {
    paidTo: 'betaald aan {shop}',
    for: 'Voor',
    price: 'Prijs + kosten',
    statement: 'Waarschijnlijk op je afschrift',
    number: 'Bonnummer',
    proven: 'Bewezen op {network}.',
    sent: 'Het contract heeft {usdc} naar {shop} gestuurd.',
    sentWithin:
      'Het contract heeft {usdc} binnen {time} na de goedkeuring van je kaart naar {shop} gestuurd.',
    transactions: 'Bekijk de twee transacties',
  },
  missing: {
    question: 'Afgeschreven, maar hier verschijnt niets?',
    usual:
      'De betaling komt meestal binnen een paar minuten aan. Als de betaaldienst de betaling controleert, kan het een dag duren.',
    ask: 'Duurt het langer, neem dan contact op met {provider} en geef de referentie hieronder door. {provider} bewaart je betaling tot die is doorgestuurd.',
    support: 'Klantenservice van {provider}',
  },
  rest: {
    heading: 'Zo betaal je de rest',
    askShop: 'Vraag {shop} hoe je de rest kunt betalen en geef de referentie hieronder door.',
    fromWallet: 'De rest vanuit een wallet sturen',
  },
  facts: {
    reference: 'Referentie',
    copyReference: 'Referentie kopiëren',
    referenceAt: 'Referentie bij {provider}',
    amount: 'Bedrag',
    time: 'Datum en tijd',
    arrivedWith: 'Inkomende transactie',
    sentWith: 'Transactie naar de winkel',
    newTab: '(opent een nieuw tabblad)',
    details: 'Transactiegegevens',
  },
  assurances: {
    exact: 'Je rondt af bij {provider} en betaalt daar precies {amount}.',
    above: 'Je rondt af bij {provider} en betaalt daar {amount}, inclusief kosten.',
    statement: 'Op je afschrift staat waarschijnlijk {provider}.',
    money: 'Het geld kan alleen naar {shop} gaan, min eventuele servicekosten.',
    check: 'Controleer het zelf',
    email: 'We delen je e-mailadres, {email}, met de betaaldienst.',
    emailToSome: 'Als de betaaldienst een e-mailadres van ons aanneemt, delen we het jouwe, {email}, ermee.',
    emailKept:
      'De winkel heeft een e-mailadres aan deze betaling toegevoegd: {email}. Je link bevat het niet, dus we delen het niet met de betaaldienst.',
  },
  offline: 'Je bent offline. Deze pagina gaat vanzelf verder zodra de verbinding terug is.',
  messages: {
    unknownPage: {
      heading: 'Pagina niet gevonden',
      sentence:
        'Op dit adres staat niets. Open de link om te betalen opnieuw vanuit de winkel of het bericht waarin die stond.',
    },
    unknownLink: {
      heading: 'Betaling niet gevonden',
      sentence:
        'De link is misschien niet volledig. Open hem opnieuw vanuit de winkel of het bericht waarin je hem kreeg.',
    },
    tooManyRequests: {
      heading: 'Te veel verzoeken vanaf je netwerk',
      sentence:
        'Er is niets verloren gegaan en niets afgeschreven. Wacht een minuut en laad de pagina opnieuw.',
    },
    didNotWork: {
      heading: 'Dat is niet gelukt',
      sentence: 'Ga terug naar de betaalpagina en probeer het opnieuw.',
    },
    ourFailure: {
      heading: 'Er ging bij ons iets mis',
      sentence: 'Hierdoor is er niets van je kaart afgeschreven. Probeer het zo meteen opnieuw.',
    },
  },
  shortLink: {
    title: 'Betaal {amount} aan {shop}',
    description: 'Betaal {shop} met je kaart.',
    continue: 'Doorgaan naar de betaling',
    see: 'Betaling bekijken',
  },
  shop: {
    contact: 'Neem contact op met {shop}',
    support: 'Vragen? Neem contact op met {shop}',
    terms: 'Voorwaarden van {shop}',
    back: 'Terug naar {shop}',
    leadsTo: 'Deze link opent {host}.',
    automatic: 'Over {seconds} seconden ga je naar {host}.',
    stay: 'Op deze pagina blijven',
  },
  phone: {
    heading: 'Verder op je telefoon',
    hint: 'Scan deze code met de camera van je telefoon om deze betaalpagina daar te openen.',
    code: 'QR-code van deze betaalpagina',
  },
  direct: {
    heading: 'Stuur {amount}',
    waiting:
      'Wachten op je transactie. Die telt zodra ze definitief is op het netwerk, een paar seconden tot een minuut later.',
    partly: 'Er is {received} ontvangen. Dit is het ontbrekende bedrag.',
    network: 'Netwerk',
    testNetwork: 'Lokaal testnetwerk, chain-ID {chain}',
    to: 'Naar',
    contract: 'USDC-contract',
    code: 'QR-code van de transactie, om met een wallet te scannen',
    codeWhole: 'Adres en bedrag',
    codeAddress: 'Alleen adres',
    codeAddressHint: 'Voor apps die de andere code niet kunnen lezen. Vul het bedrag zelf in.',
    openHint: 'Gebeurt er niets? Kopieer het bedrag en het adres naar je wallet.',
    networkMissing: 'Toont je wallet {network} niet?',
    networkAdd: 'Voeg het toe in de netwerkinstellingen van de wallet met deze waarden.',
    open: 'In je wallet openen',
    copy: 'Kopiëren',
    payWith: 'Betalen met {wallet}',
    sent: 'Je wallet heeft de transactie verstuurd. Wachten op het netwerk.',
    refused: 'Je wallet heeft de transactie niet verstuurd. Er is niets betaald.',
    onlyThere:
      'Stuur alleen USDC, en alleen via {network}. Al het andere komt niet aan en kan verloren gaan.',
    whole: 'Stuur het volledige bedrag. Kosten van het netwerk of een exchange komen erbij.',
    once: 'Gebruik dit adres alleen voor deze betaling.',
  },
  page: {
    amount: 'Bedrag in {currency}',
    amountHint: 'Van {minimum} tot {maximum}',
    suggested: 'Voorgestelde bedragen',
    left: 'Nog {count} beschikbaar',
    amountWrong: 'Vul een bedrag in van {minimum} tot {maximum}.',
    amountUnclear: 'Vul het bedrag in met twee decimalen, bijvoorbeeld {example}.',
    optional: '{question} (optioneel)',
    answerHint: 'Alleen {shop} ziet je antwoord.',
    answerMissing: 'Beantwoord deze vraag.',
    answerTooLong: 'Maximaal {count} tekens op één regel.',
    feeAdded: 'Er komen kosten bij. De volgende pagina toont het totaal voordat je betaalt.',
    pay: 'Verder naar de betaling',
    busy: 'Hier worden te veel betalingen gestart. Er is niets in rekening gebracht. Probeer het over een paar minuten opnieuw.',
    paused: {
      heading: 'Deze pagina accepteert op dit moment geen betalingen',
      sentence: 'Er is niets in rekening gebracht. Neem contact op met {shop} of probeer het later opnieuw.',
    },
    ended: { heading: 'Dit aanbod is afgelopen' },
    sold_out: { heading: 'Uitverkocht' },
    noMore: 'Deze pagina accepteert geen betalingen meer. Neem bij vragen contact op met {shop}.',
    reserved: {
      heading: 'Op dit moment uitverkocht',
      sentence:
        'Andere klanten rekenen nu de laatste exemplaren af. Wat niet binnen {minutes} minuten is betaald, wordt weer beschikbaar.',
    },
  },
  mail: {
    subject: 'Betaalbewijs van {shop}: {amount}',
    paid: 'Je hebt {amount} betaald aan {shop}.',
    page: 'Dit betaalbewijs online',
    questions: 'Vragen over je bestelling',
    warning: 'Niemand vraagt je naar aanleiding van deze e-mail om kaartgegevens of nog een betaling.',
    tell: 'We mailen u zodra het klaar is.',
    told: 'Genoteerd: we mailen u zodra het klaar is.',
    own: 'Uw ontvangstbewijs komt per e-mail.',
    address: 'Uw e-mailadres',
    send: 'Mail mij',
    once: 'Alleen voor deze ene e-mail, daarna verwijderd. {shop} ziet het niet.',
    another: 'Een ander adres gebruiken',
    receipt: 'Dit ontvangstbewijs per e-mail krijgen',
    coming: 'Uw ontvangstbewijs is per e-mail onderweg.',
    wrong: 'Vul een e-mailadres in zoals naam@example.com.',
    tooOften: 'Hier kunnen nu geen e-mails meer worden aangevraagd. Probeer het later opnieuw.',
    asked:
      'U krijgt deze ene e-mail omdat uw adres is ingevuld op de pagina van deze betaling. Het is nu verwijderd.',
  },
};

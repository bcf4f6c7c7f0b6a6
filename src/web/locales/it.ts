import type { Words } from './locale.ts';

export const it: Words = {
  languageName: 'Italiano',
  chooseLanguage: 'Lingua',
  sandbox: {
    name: 'Ambiente di prova.',
    sentence: 'Questo è un test: nessun addebito sulla carta e nessun movimento di denaro reale.',
  },
  title: '{heading} – {amount} a {shop}',
  summary: {
    paymentTo: 'Pagamento a',
    parts: '{net} + {fee} di commissione',
    fee: 'Commissione di servizio',
    total: 'Totale',
    until: 'Scadenza del pagamento: {time}',
  },
  steps: {
    label: 'Avanzamento',
    done: '(completato)',
  },
  states: {
    choose: { heading: 'Come vuoi pagare?' },
    single: {
      heading: 'Paga con {provider}',
      sentence: 'L’addebito sulla carta viene effettuato da {provider}.',
    },
    nobody: {
      heading: 'Al momento non è possibile pagare',
      sentence:
        'Nessun servizio di pagamento può accettare questo pagamento. Contatta {shop} o riprova più tardi.',
    },
    nobodyHere: {
      heading: 'Non disponibile in questo paese: {country}',
      sentence:
        'Nessun servizio di pagamento può accettare questo pagamento da clienti in questo paese ({country}). ' +
        'Se vivi altrove, scegli il tuo paese. Altrimenti contatta {shop}.',
    },
    nobodyBelow:
      'Nessun servizio di pagamento accetta questo importo. Si può pagare a partire da {minimum}. Contatta {shop}.',
    nobodyIn: 'Nessun servizio di pagamento accetta {currency} per questo pagamento. Contatta {shop}.',
    singleCannot: '{provider} non può accettare questo pagamento. Contatta {shop} o riprova più tardi.',
    going: {
      heading: 'Ti stiamo reindirizzando a {provider}',
      sentence: 'Ci vogliono pochi secondi. Non è stato ancora addebitato nulla.',
    },
    waiting: {
      heading: 'In attesa del tuo pagamento su {provider}',
      sentence:
        'Hai già pagato? Non devi fare nulla. Il pagamento comparirà qui, di solito entro pochi minuti.',
    },
    visitEnded: {
      heading: 'La tua sessione su {provider} è scaduta',
      sentence:
        'Se {provider} ha effettuato l’addebito sulla tua carta, non pagare di nuovo: ' +
        'il pagamento può richiedere un po’ di tempo e comparirà qui. Altrimenti ricomincia.',
    },
    taken: {
      heading: 'La tua carta è stata accettata',
      sentence: 'Il denaro è in viaggio verso {shop}.',
    },
    declined: {
      heading: 'Pagamento rifiutato.\nNon ti è stato addebitato nulla.',
      sentence: '{provider} comunica che il tuo pagamento di {amount} non è andato a buon fine.',
    },
    underpaid: {
      heading: 'Ci siamo quasi: paga {missing} per finire',
      sentence:
        'Una parte del tuo pagamento è arrivata. Con {missing} è completo, commissione del servizio inclusa.',
    },
    incomplete: {
      heading: 'Il tuo pagamento è incompleto',
      sentence:
        'Una parte del tuo pagamento è arrivata; mancano circa {missing}. Non pagare di nuovo l’intero importo.',
    },
    seen: {
      heading: 'Abbiamo ricevuto il tuo pagamento',
      sentence: 'Lo stiamo inviando a {shop}. Non devi fare nulla.',
    },
    sending: {
      heading: 'Il tuo pagamento è in corso di invio a {shop}',
      sentence: 'Di solito ci vuole meno di un minuto.',
    },
    held: {
      heading: 'Abbiamo ricevuto il tuo pagamento, ma c’è un ritardo',
      sentence:
        'Non è stato ancora possibile inviare {amount} a {shop}. Il denaro è al sicuro e continuiamo a provare. ' +
        'Non pagare di nuovo. Se il ritardo continua, contatta {shop} e indica il riferimento qui sotto.',
    },
    paid: {
      heading: 'Pagamento completato',
      sentence:
        '{shop} ha ricevuto il tuo pagamento. Grazie. Puoi tornare a questa ricevuta in qualsiasi momento.',
    },
    canceled: {
      heading: 'Questo pagamento è stato annullato',
      sentence:
        'Non abbiamo ricevuto alcun pagamento. Per pagare {amount}, ricomincia da {shop}. ' +
        'Se hai ricevuto un addebito sulla carta, indica a {shop} il riferimento qui sotto.',
    },
    expired: {
      heading: 'Questo pagamento è scaduto',
      sentence:
        'Non abbiamo ricevuto alcun pagamento in tempo. Per pagare {amount}, ricomincia da {shop}. ' +
        'Se hai ricevuto un addebito sulla carta, indica a {shop} il riferimento qui sotto.',
    },
    closedWithMoney: {
      heading: 'Il tuo pagamento richiede attenzione',
      sentence:
        'Abbiamo ricevuto circa {received} su {amount}, troppo tardi o solo in parte. ' +
        'Il denaro è custodito per {shop}. Contatta {shop} e indica il riferimento qui sotto. Non pagare di nuovo.',
    },
    closedAndReleased: {
      heading: '{shop} ha ricevuto il tuo denaro',
      sentence:
        'Abbiamo ricevuto circa {received} su {amount}, troppo tardi o solo in parte, quindi questo pagamento non risulta completato. ' +
        'Contatta {shop} in merito al tuo ordine e indica il riferimento qui sotto.',
    },
    overpaid:
      'Abbiamo ricevuto circa {received}, {surplus} in più del dovuto. Tutto va a {shop}. ' +
      'Chiedi a {shop} di rimborsare la differenza e indica il riferimento qui sotto.',
    paidTwice:
      'Abbiamo ricevuto il tuo pagamento più di una volta: circa {received} in totale. ' +
      'Tutto va a {shop}. Chiedi a {shop} di rimborsare il pagamento doppio e indica il riferimento qui sotto.',
    paidAgain:
      'Un altro tuo pagamento è in corso presso {holders}. Anche questo va a {shop}. ' +
      'Chiedi a {shop} di rimborsarlo e indica il riferimento qui sotto.',
    littleArrived: 'Abbiamo ricevuto un importo molto piccolo. L’intero importo è ancora da pagare.',
  },
  actions: {
    continueTo: 'Continua su {provider}',
    continueAt: 'Continua con {provider}',
    startAgainAt: 'Ricomincia con {provider}',
    tryAnotherCard: 'Prova un’altra carta su {provider}',
    print: 'Stampa o salva la ricevuta',
    tryAgain: 'Riprova',
    backToCheckout: 'Torna al pagamento',
  },
  offers: {
    payAt: 'Paga con {provider}',
    pay: 'Paga {amount}',
    through: 'Tramite {provider}',
    change: 'Cambia',
    all: 'Tutti i {count} servizi',
    payInstead: 'Paga invece con {provider}',
    otherWays: 'Altri metodi di pagamento ({count})',
    card: 'Carta',
    lastChoice: 'La tua ultima scelta',
    country: 'In quale paese vivi?',
    countryReason: '{provider} deve conoscere il tuo paese.',
    noneChosen: 'Seleziona',
    notForThis: 'Non disponibili per questo pagamento',
    onlyFrom: 'Solo a partire da {minimum}',
    onlyFromThisIs: 'Solo a partire da {minimum}; questo pagamento equivale a circa {value}',
    onlyUpTo: 'Solo fino a {maximum}',
    onlyCurrency: 'Solo per pagamenti in {currency}',
    inactive: 'Non disponibile al momento',
    silent: 'Temporaneamente non disponibile',
    busy: 'Momentaneamente sovraccarico',
    charges: 'Lì paghi {amount}, commissioni incluse',
    accountNeeded: 'Serve un account {provider}',
    usually: 'Di solito {time}',
    idNeeded: 'Documento d’identità al primo acquisto',
  },
  problems: {
    noSuchProvider: 'Questo servizio di pagamento non esiste. Scegline uno qui sotto.',
    otherProvider: 'Questo pagamento è per un altro servizio di pagamento.',
    busy: '{provider} è sovraccarico in questo momento. Non è stato addebitato nulla sulla tua carta. Riprova tra qualche secondo.',
    unreachable:
      'Impossibile contattare {provider}. Non è stato addebitato nulla sulla tua carta. Riprova tra poco.',
    orOther: 'Oppure scegli un altro metodo di pagamento.',
    inactive: '{provider} non è disponibile al momento. Non è stato addebitato nulla sulla tua carta.',
    onlyCurrency: '{provider} non accetta pagamenti in {currency}.',
    unserved: '{provider} non serve i clienti della tua regione.',
    belowMinimum: '{amount} è inferiore all’importo minimo di {provider}.',
    aboveMaximum: '{amount} è superiore all’importo massimo di {provider}.',
    tooOften: '{provider} è stato aperto troppe volte da questo pagamento. Riprova tra un’ora.',
    shopCannotReceive: '{shop} al momento non può ricevere pagamenti. Contatta {shop}.',
    networkDown:
      'La rete di pagamento non è raggiungibile. Non è stato addebitato nulla sulla tua carta. Riprova tra poco.',
    countryMissing: 'Scegli il tuo paese: {provider} ha bisogno di questa informazione.',
    chooseOther: 'Scegli un altro modo di pagare.',
    contactShop: 'Contatta {shop}.',
    notFromHere: 'Usa i pulsanti di questa pagina per continuare.',
    other: 'Qualcosa non ha funzionato. Non è stato addebitato nulla sulla tua carta. Riprova tra poco.',
  },
  wait: {
    elapsed: 'di attesa',
    approved: 'Il tuo pagamento è stato accettato',
    usual: 'Di solito ci vogliono {time}.',
    once: 'Non pagare di nuovo.',
    approvedBy: 'Accettato da {provider}',
    onItsWay: 'In viaggio',
    sending: '{provider} lo sta inviando all’indirizzo di questo pagamento.',
    confirmed: 'Confermato',
    withShop: 'Da {shop}',
    now: 'ora',
    close: 'Puoi chiudere questa pagina.',
    longer: 'Ci vuole di più?',
  },
  receipt: {
    paidTo: 'pagato a {shop}',
    for: 'Per',
    price: 'Prezzo + commissione',
    statement: 'Probabilmente sul tuo estratto conto',
    number: 'Ricevuta n.',
    proven: 'Dimostrato su {network}.',
    sent: 'Il contratto ha inviato {usdc} a {shop}.',
    sentWithin: 'Il contratto ha inviato {usdc} a {shop} entro {time} dall’accettazione della tua carta.',
    transactions: 'Vedi le due transazioni',
  },
  missing: {
    question: 'Hai ricevuto l’addebito, ma qui non compare nulla?',
    usual:
      'Di solito il pagamento arriva in pochi minuti. Se il servizio di pagamento lo verifica, può volerci un giorno.',
    ask: 'Se l’attesa si prolunga, contatta {provider}, che custodisce il tuo pagamento fino alla consegna, e indica il riferimento qui sotto.',
    support: 'Assistenza {provider}',
  },
  rest: {
    heading: 'Come pagare il resto',
    askShop: 'Chiedi a {shop} come pagare il resto e indica il riferimento qui sotto.',
    fromWallet: 'Invia il resto da un wallet',
  },
  facts: {
    reference: 'Riferimento',
    copyReference: 'Copia il riferimento',
    referenceAt: 'Riferimento presso {provider}',
    amount: 'Importo',
    time: 'Data e ora',
    arrivedWith: 'Transazione in entrata',
    sentWith: 'Transazione verso il negozio',
    newTab: '(si apre in una nuova scheda)',
    details: 'Dettagli della transazione',
  },
  assurances: {
    exact: 'Completi il pagamento su {provider} e lì paghi esattamente {amount}.',
    above: 'Completi il pagamento su {provider} e lì paghi {amount}, commissioni incluse.',
    statement: 'Sull’estratto conto comparirà probabilmente {provider}.',
    money: 'Il denaro può andare solo a {shop}, meno l’eventuale commissione di servizio.',
    check: 'Verificalo',
    email: 'Condividiamo il tuo indirizzo e-mail, {email}, con il servizio di pagamento.',
    emailToSome:
      'Se il servizio di pagamento accetta da noi un indirizzo e-mail, condividiamo il tuo, {email}.',
    emailKept:
      'Il negozio ha aggiunto un indirizzo e-mail a questo pagamento: {email}. ' +
      'Il tuo link non lo contiene, quindi non lo condividiamo con il servizio di pagamento.',
  },
  offline: 'Sei offline. Questa pagina riprenderà automaticamente quando tornerà la connessione.',
  messages: {
    unknownPage: {
      heading: 'Pagina non trovata',
      sentence:
        'A questo indirizzo non c’è nulla. Per pagare, riapri il link dal negozio o dal messaggio in cui l’hai ricevuto.',
    },
    unknownLink: {
      heading: 'Pagamento non trovato',
      sentence:
        'Il link potrebbe essere incompleto. Aprilo di nuovo dal negozio o dal messaggio in cui l’hai ricevuto.',
    },
    tooManyRequests: {
      heading: 'Troppe richieste dalla tua rete',
      sentence:
        'Non è andato perso nulla e non ti è stato addebitato nulla. Attendi un minuto e ricarica la pagina.',
    },
    didNotWork: {
      heading: 'Non ha funzionato',
      sentence: 'Torna alla pagina di pagamento e riprova.',
    },
    ourFailure: {
      heading: 'Si è verificato un errore da parte nostra',
      sentence: 'Non è stato addebitato nulla sulla tua carta. Riprova tra poco.',
    },
  },
  shortLink: {
    title: 'Paga {amount} a {shop}',
    description: 'Paga {shop} con carta.',
    continue: 'Continua al pagamento',
    see: 'Vedi il pagamento',
  },
  shop: {
    contact: 'Contatta {shop}',
    support: 'Domande? Contatta {shop}',
    terms: 'Condizioni di vendita di {shop}',
    back: 'Torna a {shop}',
    leadsTo: 'Questo link apre {host}.',
    automatic: 'Tra {seconds} secondi verrai reindirizzato a {host}.',
    stay: 'Resta su questa pagina',
  },
  phone: {
    heading: 'Continua sul telefono',
    hint: 'Inquadra questo codice con la fotocamera del telefono per aprire lì questa pagina di pagamento.',
    code: 'Codice QR di questa pagina di pagamento',
  },
  direct: {
    heading: 'Invia {amount}',
    waiting:
      'In attesa del tuo trasferimento. È valido quando diventa definitivo sulla rete, da pochi secondi a un minuto dopo.',
    partly: 'Abbiamo ricevuto {received}. Questo è l’importo mancante.',
    network: 'Rete',
    testNetwork: 'Rete di prova locale, chain ID {chain}',
    to: 'A',
    contract: 'Contratto USDC',
    code: 'Codice QR del trasferimento, da scansionare con un wallet',
    codeWhole: 'Indirizzo e importo',
    codeAddress: 'Solo indirizzo',
    codeAddressHint: 'Per le app che non leggono l’altro codice. Inserisci tu l’importo.',
    openHint: 'Non succede nulla? Copia l’importo e l’indirizzo nel tuo wallet.',
    networkMissing: 'Il tuo wallet non mostra {network}?',
    networkAdd: 'Aggiungila nelle impostazioni di rete del wallet con questi valori.',
    open: 'Apri nel tuo wallet',
    copy: 'Copia',
    payWith: 'Paga con {wallet}',
    sent: 'Il tuo wallet ha inviato il trasferimento. In attesa della rete.',
    refused: 'Il tuo wallet non ha inviato il trasferimento. Non è stato pagato nulla.',
    onlyThere:
      'Invia solo USDC e solo su {network}. Qualsiasi altro invio non arriverà e potrebbe andare perso.',
    whole: 'Invia l’intero importo. Le commissioni della rete o di un exchange sono a parte.',
    once: 'Usa questo indirizzo solo per questo pagamento.',
  },
  page: {
    amount: 'Importo in {currency}',
    amountHint: 'Da {minimum} a {maximum}',
    suggested: 'Importi suggeriti',
    left: 'Disponibili: {count}',
    amountWrong: 'Inserisci un importo da {minimum} a {maximum}.',
    amountUnclear: 'Inserisci l’importo con due decimali, per esempio {example}.',
    optional: '{question} (facoltativo)',
    answerHint: 'Solo {shop} vede la tua risposta.',
    answerMissing: 'Rispondi a questa domanda.',
    answerTooLong: 'Al massimo {count} caratteri su una sola riga.',
    feeAdded: 'Si aggiunge una commissione. La pagina successiva mostra il totale prima del pagamento.',
    pay: 'Continua al pagamento',
    busy: 'Qui si stanno avviando troppi pagamenti. Non ti è stato addebitato nulla. Riprova tra qualche minuto.',
    paused: {
      heading: 'Al momento questa pagina non accetta pagamenti',
      sentence: 'Non ti è stato addebitato nulla. Contatta {shop} o riprova più tardi.',
    },
    ended: { heading: 'Questa offerta è terminata' },
    sold_out: { heading: 'Esaurito' },
    noMore: 'Questa pagina non accetta più pagamenti. Per domande contatta {shop}.',
    reserved: {
      heading: 'Al momento esaurito',
      sentence:
        'Altri clienti stanno pagando gli ultimi pezzi. Ciò che non viene pagato entro {minutes} minuti torna disponibile.',
    },
  },
  mail: {
    subject: 'Ricevuta di {shop}: {amount}',
    paid: 'Hai pagato {amount} a {shop}.',
    page: 'Questa ricevuta online',
    questions: 'Domande sul tuo ordine',
    warning: 'Nessuno ti chiederà i dati della carta o un altro pagamento in seguito a questa e-mail.',
    tell: 'Le scriveremo via email quando sarà concluso.',
    told: 'Fatto: le scriveremo via email quando sarà concluso.',
    own: 'La ricevuta arriva via email.',
    address: 'Il suo indirizzo email',
    send: 'Mi avvisi',
    once: 'Solo per questa email, poi cancellato. {shop} non lo vede.',
    another: 'Usare un altro indirizzo',
    receipt: 'Ricevere questa ricevuta via email',
    coming: 'La ricevuta è in arrivo via email.',
    wrong: 'Inserisca un indirizzo email come nome@example.com.',
    tooOften: 'Al momento non si possono richiedere altre email qui. Riprovi più tardi.',
    asked:
      'Riceve questa sola email perché il suo indirizzo è stato inserito nella pagina di questo pagamento. Ora è cancellato.',
  },
};

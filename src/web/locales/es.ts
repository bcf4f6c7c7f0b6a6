import type { Words } from './locale.ts';

export const es: Words = {
  languageName: 'Español',
  chooseLanguage: 'Idioma',
  sandbox: {
    name: 'Entorno de pruebas.',
    sentence: 'Esto es una prueba: no se cobra ninguna tarjeta ni se mueve dinero real.',
  },
  title: '{heading} – {amount} a {shop}',
  summary: {
    paymentTo: 'Pago a',
    parts: '{net} + {fee} de comisión',
    fee: 'Comisión de servicio',
    total: 'Total',
    until: 'Puede pagar hasta el {time}.',
  },
  steps: {
    label: 'Progreso',
    done: '(completado)',
  },
  states: {
    choose: { heading: '¿Cómo desea pagar?' },
    single: {
      heading: 'Pagar con {provider}',
      sentence: 'El cargo en su tarjeta lo realiza {provider}.',
    },
    nobody: {
      heading: 'Este pago no es posible por el momento',
      sentence:
        'Ningún servicio de pago puede aceptar este pago. Póngase en contacto con {shop} o inténtelo más tarde.',
    },
    nobodyHere: {
      heading: 'No disponible en {country}',
      sentence:
        'Ningún servicio de pago puede aceptar este pago de clientes en {country}. Si vive en otro lugar, elija su país. Si no, contacte con {shop}.',
    },
    nobodyBelow:
      'Ningún servicio de pago admite este importe. Se puede pagar a partir de {minimum}. Póngase en contacto con {shop}.',
    nobodyIn: 'Ningún servicio de pago admite {currency} para este pago. Póngase en contacto con {shop}.',
    singleCannot:
      '{provider} no puede aceptar este pago. Póngase en contacto con {shop} o inténtelo más tarde.',
    going: {
      heading: 'Le estamos redirigiendo a {provider}',
      sentence: 'Solo tardará unos segundos. Todavía no se le ha cobrado nada.',
    },
    waiting: {
      heading: 'Esperando su pago en {provider}',
      sentence:
        '¿Ya ha pagado? No tiene que hacer nada. Su pago aparecerá aquí, normalmente en unos minutos.',
    },
    visitEnded: {
      heading: 'Su sesión en {provider} ha caducado',
      sentence:
        'Si {provider} ha realizado un cargo en su tarjeta, no vuelva a pagar: el pago puede tardar un poco y aparecerá aquí. Si no, empiece de nuevo.',
    },
    taken: {
      heading: 'Su tarjeta está aprobada',
      sentence: 'Su dinero está de camino a {shop}.',
    },
    declined: {
      heading: 'Pago rechazado.\nNo se le ha cobrado nada.',
      sentence: '{provider} indica que su pago de {amount} no se completó.',
    },
    underpaid: {
      heading: 'Casi listo: pague {missing} para terminar',
      sentence:
        'Ha llegado una parte de su pago. Con {missing} queda completo, comisión del servicio incluida.',
    },
    incomplete: {
      heading: 'Su pago está incompleto',
      sentence:
        'Ha llegado una parte de su pago; faltan unos {missing}. Por favor, no vuelva a pagar el importe completo.',
    },
    seen: {
      heading: 'Hemos recibido su pago',
      sentence: 'Lo estamos enviando a {shop}. No tiene que hacer nada.',
    },
    sending: {
      heading: 'Su pago se está enviando a {shop}',
      sentence: 'Suele tardar menos de un minuto.',
    },
    held: {
      heading: 'Hemos recibido su pago, pero hay un retraso',
      sentence:
        'Todavía no hemos podido enviar {amount} a {shop}. El dinero está a salvo y seguimos intentándolo. ' +
        'Por favor, no vuelva a pagar. Si el retraso continúa, póngase en contacto con {shop} e indique la referencia de abajo.',
    },
    paid: {
      heading: 'Pagado',
      sentence: '{shop} ha recibido su pago. Gracias. Puede volver a este recibo en cualquier momento.',
    },
    canceled: {
      heading: 'Este pago se ha cancelado',
      sentence:
        'No se ha recibido ningún pago. Para pagar {amount}, empiece de nuevo en {shop}. ' +
        'Si se realizó un cargo en su tarjeta, indique a {shop} la referencia de abajo.',
    },
    expired: {
      heading: 'Este pago ha caducado',
      sentence:
        'No se ha recibido ningún pago dentro del plazo. Para pagar {amount}, empiece de nuevo en {shop}. ' +
        'Si se realizó un cargo en su tarjeta, indique a {shop} la referencia de abajo.',
    },
    closedWithMoney: {
      heading: 'Su pago requiere atención',
      sentence:
        'Se han recibido unos {received} de {amount}, fuera de plazo o solo en parte. El dinero se conserva para {shop}. ' +
        'Póngase en contacto con {shop} e indique la referencia de abajo. Por favor, no vuelva a pagar.',
    },
    closedAndReleased: {
      heading: '{shop} ha recibido su dinero',
      sentence:
        'Se han recibido unos {received} de {amount}, fuera de plazo o solo en parte, por lo que este pago no se considera completado. ' +
        'Póngase en contacto con {shop} acerca de su pedido e indique la referencia de abajo.',
    },
    overpaid:
      'Se han recibido unos {received}: {surplus} de más. Todo es para {shop}. ' +
      'Pida a {shop} que le reembolse la diferencia e indique la referencia de abajo.',
    paidTwice:
      'Su pago se ha recibido más de una vez: unos {received} en total. Todo es para {shop}. ' +
      'Pida a {shop} que le reembolse el pago duplicado e indique la referencia de abajo.',
    paidAgain:
      'Otro pago suyo está en curso en {holders}. También es para {shop}. ' +
      'Pida a {shop} que se lo reembolse e indique la referencia de abajo.',
    littleArrived: 'Se ha recibido un importe muy pequeño. El importe completo sigue pendiente.',
  },
  actions: {
    continueTo: 'Continuar a {provider}',
    continueAt: 'Continuar en {provider}',
    startAgainAt: 'Empezar de nuevo en {provider}',
    tryAnotherCard: 'Probar otra tarjeta en {provider}',
    print: 'Imprimir o guardar el recibo',
    tryAgain: 'Volver a intentarlo',
    backToCheckout: 'Volver al pago',
  },
  offers: {
    payAt: 'Pagar con {provider}',
    pay: 'Pagar {amount}',
    through: 'A través de {provider}',
    change: 'Cambiar',
    all: 'Los {count} servicios',
    payInstead: 'Pagar con {provider} en su lugar',
    otherWays: 'Otras formas de pago ({count})',
    card: 'Tarjeta',
    lastChoice: 'Su última elección',
    country: '¿En qué país vive?',
    countryReason: '{provider} necesita saber su país.',
    noneChosen: 'Seleccione',
    notForThis: 'No disponibles para este pago',
    onlyFrom: 'Solo a partir de {minimum}',
    onlyFromThisIs: 'Solo a partir de {minimum}; este pago equivale a unos {value}',
    onlyUpTo: 'Solo hasta {maximum}',
    onlyCurrency: 'Solo para pagos en {currency}',
    inactive: 'No disponible por el momento',
    silent: 'No disponible temporalmente',
    busy: 'Saturado en este momento',
    charges: 'Allí paga {amount}, comisiones incluidas',
    accountNeeded: 'Requiere una cuenta de {provider}',
    usually: 'Normalmente {time}',
    idNeeded: 'Documento de identidad en la primera compra',
  },
  problems: {
    noSuchProvider: 'Ese servicio de pago no existe. Elija uno de los siguientes.',
    otherProvider: 'Este pago es para otro servicio de pago.',
    busy: '{provider} está saturado en este momento. No se ha realizado ningún cargo en su tarjeta. Inténtelo de nuevo en unos segundos.',
    unreachable:
      'No se pudo contactar con {provider}. No se ha realizado ningún cargo en su tarjeta. Inténtelo de nuevo en un momento.',
    orOther: 'O elija otra forma de pago.',
    inactive: '{provider} no está disponible por el momento. No se ha realizado ningún cargo en su tarjeta.',
    onlyCurrency: '{provider} no acepta pagos en {currency}.',
    unserved: '{provider} no atiende a clientes de su región.',
    belowMinimum: '{amount} es inferior al mínimo de {provider}.',
    aboveMaximum: '{amount} es superior al máximo de {provider}.',
    tooOften: 'Se ha abierto {provider} demasiadas veces desde este pago. Inténtelo de nuevo en una hora.',
    shopCannotReceive: '{shop} no puede recibir pagos por el momento. Póngase en contacto con {shop}.',
    networkDown:
      'No se puede conectar con la red de pagos. No se ha realizado ningún cargo en su tarjeta. Inténtelo de nuevo en breve.',
    countryMissing: 'Elija su país: {provider} necesita este dato.',
    chooseOther: 'Elija otra forma de pago.',
    contactShop: 'Contacte con {shop}.',
    notFromHere: 'Utilice los botones de esta página para continuar.',
    other:
      'No ha funcionado. No se ha realizado ningún cargo en su tarjeta. Inténtelo de nuevo en un momento.',
  },
  wait: {
    elapsed: 'de espera',
    approved: 'Su pago está aprobado',
    usual: 'Suele tardar {time}.',
    once: 'No vuelva a pagar.',
    approvedBy: 'Aprobado por {provider}',
    onItsWay: 'En camino',
    sending: '{provider} lo está enviando a la dirección de este pago.',
    confirmed: 'Confirmado',
    withShop: 'En {shop}',
    now: 'ahora',
    close: 'Puede cerrar esta página.',
    longer: '¿Tarda más?',
  },
  receipt: {
    paidTo: 'pagado a {shop}',
    for: 'Concepto',
    price: 'Precio + comisión',
    statement: 'Probablemente en su extracto',
    number: 'Recibo n.º',
    proven: 'Comprobado en {network}.',
    sent: 'El contrato envió {usdc} a {shop}.',
    sentWithin: 'El contrato envió {usdc} a {shop} en menos de {time} desde la aprobación de su tarjeta.',
    transactions: 'Ver las dos transacciones',
  },
  missing: {
    question: '¿Se lo han cobrado y aquí no aparece nada?',
    usual: 'El pago suele llegar en unos minutos. Si el servicio de pago lo revisa, puede tardar un día.',
    ask: 'Si tarda más, consulte a {provider}, que conserva su pago hasta entregarlo, e indique la referencia de abajo.',
    support: 'Asistencia de {provider}',
  },
  rest: {
    heading: 'Cómo pagar el resto',
    askShop: 'Pregunte a {shop} cómo pagar el resto e indique la referencia de abajo.',
    fromWallet: 'Enviar el resto desde una cartera',
  },
  facts: {
    reference: 'Referencia',
    copyReference: 'Copiar la referencia',
    referenceAt: 'Referencia en {provider}',
    amount: 'Importe',
    time: 'Fecha y hora',
    arrivedWith: 'Transacción recibida',
    sentWith: 'Transacción a la tienda',
    newTab: '(se abre en otra pestaña)',
    details: 'Detalles de la transacción',
  },
  assurances: {
    exact: 'Usted termina en {provider} y allí paga exactamente {amount}.',
    above: 'Usted termina en {provider} y allí paga {amount}, comisiones incluidas.',
    statement: 'Su extracto mostrará probablemente {provider}.',
    money: 'El dinero solo puede llegar a {shop}, menos la comisión de servicio, si la hay.',
    check: 'Compruébelo',
    email: 'Compartimos su correo electrónico, {email}, con el servicio de pago.',
    emailToSome:
      'Si el servicio de pago admite un correo electrónico de nuestra parte, compartimos el suyo, {email}, con él.',
    emailKept:
      'La tienda ha añadido un correo electrónico a este pago: {email}. Su enlace no lo incluye, así que no lo compartimos con el servicio de pago.',
  },
  offline: 'No tiene conexión. Esta página continuará automáticamente cuando se restablezca la conexión.',
  messages: {
    unknownPage: {
      heading: 'Página no encontrada',
      sentence:
        'No hay nada en esta dirección. Para pagar, vuelva a abrir el enlace desde la tienda o el mensaje en que lo recibió.',
    },
    unknownLink: {
      heading: 'No se ha encontrado el pago',
      sentence:
        'Puede que el enlace esté incompleto. Ábralo de nuevo desde la tienda o desde el mensaje en el que lo recibió.',
    },
    tooManyRequests: {
      heading: 'Demasiadas solicitudes desde su red',
      sentence: 'No se ha perdido ni cobrado nada. Espere un minuto y vuelva a cargar la página.',
    },
    didNotWork: {
      heading: 'No ha funcionado',
      sentence: 'Vuelva a la página de pago e inténtelo de nuevo.',
    },
    ourFailure: {
      heading: 'Algo ha fallado por nuestra parte',
      sentence: 'No se ha realizado ningún cargo en su tarjeta. Inténtelo de nuevo en un momento.',
    },
  },
  shortLink: {
    title: 'Pagar {amount} a {shop}',
    description: 'Pague a {shop} con tarjeta.',
    continue: 'Continuar al pago',
    see: 'Ver el pago',
  },
  shop: {
    contact: 'Contactar con {shop}',
    support: '¿Preguntas? Contacte con {shop}',
    terms: 'Condiciones de {shop}',
    back: 'Volver a {shop}',
    leadsTo: 'Este enlace lleva a {host}.',
    automatic: 'En {seconds} segundos se le redirigirá a {host}.',
    stay: 'Quedarse en esta página',
  },
  phone: {
    heading: 'Continuar en el móvil',
    hint: 'Escanee este código con la cámara de su móvil para abrir allí esta página de pago.',
    code: 'Código QR de esta página de pago',
  },
  direct: {
    heading: 'Envíe {amount}',
    waiting:
      'Esperando su transferencia. Cuenta en cuanto es definitiva en la red, entre unos segundos y un minuto después.',
    partly: 'Se han recibido {received}. Este es el importe que falta.',
    network: 'Red',
    testNetwork: 'Red de pruebas local, ID de cadena {chain}',
    to: 'A',
    contract: 'Contrato de USDC',
    code: 'Código QR de la transferencia, para escanearlo con una cartera',
    codeWhole: 'Dirección e importe',
    codeAddress: 'Solo la dirección',
    codeAddressHint: 'Para aplicaciones que no leen el otro código. Introduzca usted el importe.',
    openHint: '¿No ocurre nada? Copie el importe y la dirección en su cartera.',
    networkMissing: '¿Su cartera no muestra {network}?',
    networkAdd: 'Añádala en los ajustes de red de la cartera con estos valores.',
    open: 'Abrir en su cartera',
    copy: 'Copiar',
    payWith: 'Pagar con {wallet}',
    sent: 'Su cartera ha enviado la transferencia. Esperando a la red.',
    refused: 'Su cartera no ha enviado la transferencia. No se ha pagado nada.',
    onlyThere: 'Envíe solo USDC y solo por {network}. Cualquier otro envío no llegará y puede perderse.',
    whole:
      'Envíe el importe completo. Las comisiones de la red o de una plataforma de intercambio van aparte.',
    once: 'Use esta dirección solo para este pago.',
  },
  page: {
    amount: 'Importe en {currency}',
    amountHint: 'De {minimum} a {maximum}',
    suggested: 'Importes sugeridos',
    left: 'Disponibles: {count}',
    amountWrong: 'Introduzca un importe de {minimum} a {maximum}.',
    amountUnclear: 'Introduzca el importe con dos decimales, por ejemplo {example}.',
    optional: '{question} (opcional)',
    answerHint: 'Solo {shop} ve su respuesta.',
    answerMissing: 'Responda a esta pregunta.',
    answerTooLong: 'Como máximo {count} caracteres en una sola línea.',
    feeAdded: 'Se añade una comisión. La página siguiente muestra el total antes de pagar.',
    pay: 'Continuar al pago',
    busy: 'Se están iniciando demasiados pagos aquí. No se le ha cobrado nada. Inténtelo de nuevo en unos minutos.',
    paused: {
      heading: 'Esta página no acepta pagos por el momento',
      sentence: 'No se le ha cobrado nada. Póngase en contacto con {shop} o inténtelo más tarde.',
    },
    ended: { heading: 'Esta oferta ha terminado' },
    sold_out: { heading: 'Agotado' },
    noMore: 'Esta página ya no acepta pagos. Si tiene preguntas, póngase en contacto con {shop}.',
    reserved: {
      heading: 'Agotado por ahora',
      sentence:
        'Otros clientes están pagando las últimas unidades. Lo que no se pague en {minutes} minutos volverá a estar disponible.',
    },
  },
  mail: {
    subject: 'Recibo de {shop}: {amount}',
    paid: 'Ha pagado {amount} a {shop}.',
    page: 'Este recibo en línea',
    questions: 'Preguntas sobre su pedido',
    warning: 'Nadie le pedirá los datos de su tarjeta ni otro pago a raíz de este correo.',
    tell: 'Le escribiremos por correo cuando termine.',
    told: 'Anotado: le escribiremos por correo cuando termine.',
    own: 'Su recibo llega por correo electrónico.',
    address: 'Su correo electrónico',
    send: 'Avisarme',
    once: 'Solo para este correo; después se borra. {shop} no la ve.',
    another: 'Usar otra dirección',
    receipt: 'Recibir este recibo por correo',
    coming: 'Su recibo va de camino por correo electrónico.',
    wrong: 'Escriba un correo electrónico como nombre@example.com.',
    tooOften: 'Ahora no se pueden solicitar más correos aquí. Inténtelo de nuevo más tarde.',
    asked:
      'Recibe este único correo porque su dirección se indicó en la página de este pago. Ya se ha borrado.',
  },
};

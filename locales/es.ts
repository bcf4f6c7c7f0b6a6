import type { Words } from './locale.ts';

export const es: Words = {
  languageName: 'Español',
  chooseLanguage: 'Idioma',
  sandbox: {
    name: 'Entorno de pruebas.',
    sentence: 'Esto es una prueba: no se cobra ninguna tarjeta ni se mueve dinero real.',
  },
  title: '{heading} – {amount} a {shop}',
  summary: { paymentTo: 'Pago a', parts: '{net} + {fee} de comisión' },
  steps: {
    label: 'Progreso',
    choose: 'Elegir',
    pay: 'Pagar',
    arrived: 'Recibido',
    sent: 'En la tienda',
    done: '(hecho)',
  },
  states: {
    choose: {
      heading: 'Elija cómo pagar',
      sentence: 'El cargo en su tarjeta lo hace el proveedor que elija.',
    },
    single: { heading: 'Pagar con {provider}', sentence: 'El cargo en su tarjeta lo hace {provider}.' },
    nobody: {
      heading: 'Este pago no es posible por el momento',
      sentence:
        'Ningún proveedor puede aceptar este pago. Póngase en contacto con {shop} o inténtelo más tarde.',
    },
    nobodyBelow: {
      heading: 'Este pago no es posible por el momento',
      sentence:
        'Ningún servicio de pago admite este importe. Se puede pagar a partir de {minimum}. Póngase en contacto con {shop}.',
    },
    singleCannot: {
      heading: 'Este pago no es posible por el momento',
      sentence:
        '{provider} no puede aceptar este pago. Póngase en contacto con {shop} o inténtelo más tarde.',
    },
    going: {
      heading: 'Le llevamos a {provider}',
      sentence: 'Tarda unos segundos. Todavía no se ha cobrado nada.',
    },
    waiting: {
      heading: 'Esperando su pago en {provider}',
      sentence:
        '¿Ya ha pagado? Entonces no tiene que hacer nada más: aparecerá aquí, normalmente en unos minutos.',
    },
    visitEnded: {
      heading: 'Su visita a {provider} ha terminado',
      sentence:
        'Si {provider} ha cobrado en su tarjeta, no vuelva a pagar: la entrega puede tardar un poco y aparecerá aquí. Si no, puede empezar de nuevo.',
    },
    taken: {
      heading: '{provider} ha aceptado su pago',
      sentence:
        '{provider} indica que está en camino hacia {shop}. Aparecerá aquí, normalmente en unos minutos; por favor, no vuelva a pagar.',
    },
    declined: {
      heading: '{provider} no ha aceptado su pago',
      sentence: '{provider} indica que no se completó. Puede intentarlo de nuevo.',
    },
    declinedOfSeveral: {
      heading: '{provider} no ha aceptado su pago',
      sentence: '{provider} indica que no se completó. Puede intentarlo de nuevo o elegir otro proveedor.',
    },
    underpaid: {
      heading: 'Ha llegado menos de lo debido',
      sentence: 'Han llegado {received}; faltan {missing}. Por favor, no vuelva a pagar el importe completo.',
    },
    seen: {
      heading: 'Su pago ha llegado',
      sentence: 'Está a punto de enviarse a {shop}. No tiene que hacer nada.',
    },
    sending: {
      heading: 'Su pago se está enviando a {shop}',
      sentence: 'Suele tardar menos de un minuto. Puede cerrar esta página.',
    },
    held: {
      heading: 'Su pago ha llegado, pero se retrasa',
      sentence:
        'Todavía no se ha podido transferir a {shop}. Está a salvo y se vuelve a intentar; no pague por segunda vez. Si persiste, póngase en contacto con {shop} e indique la referencia de abajo.',
    },
    paid: {
      heading: 'Pagado',
      sentence: '{shop} ha recibido su pago. Gracias. Puede volver a este recibo en cualquier momento.',
    },
    canceled: {
      heading: 'Este pago fue cancelado',
      sentence:
        'No había llegado nada. Para pagar, empiece de nuevo en {shop}. Si aun así se cobró en su tarjeta, indique a {shop} la referencia de abajo.',
    },
    expired: {
      heading: 'Este pago ha caducado',
      sentence:
        'No llegó nada a tiempo. Para pagar, empiece de nuevo en {shop}. Si aun así se cobró en su tarjeta, indique a {shop} la referencia de abajo.',
    },
    closedWithMoney: {
      heading: 'Su pago necesita atención',
      sentence:
        'Llegó algo después del cierre, o no era el importe completo. Póngase en contacto con {shop} e indique la referencia de abajo; no vuelva a pagar.',
    },
    closedAndReleased: {
      heading: '{shop} tiene lo que usted envió',
      sentence:
        'Llegó demasiado tarde o no era el importe completo, por lo que no cuenta como pagado. Póngase en contacto con {shop} e indique la referencia de abajo.',
    },
    overpaid:
      'Se ha recibido más de lo que cuesta este pago. Si se cobró dos veces en su tarjeta, pida un reembolso a {shop} e indique la referencia de abajo.',
    littleArrived:
      'Ha llegado una pequeña cantidad, muy lejos de lo que cuesta; el importe completo sigue pendiente de pago.',
  },
  actions: {
    continueTo: 'Continuar a {provider}',
    continueAt: 'Continuar en {provider}',
    startAgainAt: 'Empezar de nuevo en {provider}',
    chooseAnother: 'Elegir otro proveedor',
    checkAgain: 'Comprobar de nuevo',
    print: 'Imprimir o guardar el recibo',
    backToCheckout: 'Volver al pago',
  },
  offers: {
    payAt: 'Pagar con {provider}',
    minimum: 'mín. {amount}',
    delivers: 'llegan {amount}',
    best: 'Mejor oferta',
    lastChoice: 'Su última elección',
    country: 'País en el que vive',
    countryHint: '{provider} lo pide.',
    noneChosen: 'Elija',
    notForThis: 'No disponibles para este pago',
    onlyFrom: 'Solo a partir de {minimum}',
    onlyFromThisIs: 'Solo a partir de {minimum}; esto son unos {value}',
    onlyUpTo: 'Solo hasta {maximum}',
    onlyCurrency: 'Solo para pagos en {currency}',
    inactive: 'No disponible por el momento',
    silent: 'No responde por el momento',
    busy: 'Ocupado por el momento',
    accountNeeded: 'Requiere una cuenta de {provider}',
  },
  problems: {
    noSuchProvider: 'Ese proveedor no existe. Elija uno de los siguientes.',
    otherProvider: 'Este pago es para otro proveedor.',
    busy: '{provider} está ocupado en este momento. No se ha cobrado en su tarjeta. Inténtelo de nuevo en unos segundos.',
    busyOfSeveral:
      '{provider} está ocupado en este momento. No se ha cobrado en su tarjeta. Inténtelo de nuevo en unos segundos o elija otro proveedor.',
    unreachable:
      'No se pudo contactar con {provider}. No se ha cobrado en su tarjeta. Inténtelo de nuevo en un momento.',
    unreachableOfSeveral:
      'No se pudo contactar con {provider}. No se ha cobrado en su tarjeta. Inténtelo de nuevo en un momento o elija otro proveedor.',
    inactive: '{provider} no está disponible por el momento. No se ha cobrado en su tarjeta.',
    onlyCurrency: '{provider} no acepta pagos en {currency}.',
    belowMinimum: '{amount} es menos de lo que acepta {provider}.',
    aboveMaximum: '{amount} es más de lo que acepta {provider}.',
    tooOften: 'Se ha abierto {provider} demasiadas veces desde este pago. Inténtelo de nuevo en una hora.',
    shopCannotReceive: '{shop} no puede recibir pagos por el momento. Póngase en contacto con {shop}.',
    networkDown:
      'No se puede acceder a la red de pagos. No se ha cobrado en su tarjeta. Inténtelo de nuevo en breve.',
    countryMissing: 'Elija su país: {provider} lo pide.',
    notFromHere: 'Utilice los botones de esta página para continuar.',
    other: 'No ha funcionado. No se ha cobrado en su tarjeta. Inténtelo de nuevo en un momento.',
  },
  missing: {
    question: '¿Se lo han cobrado y aquí no aparece nada?',
    usual: 'La entrega suele tardar unos minutos; si el proveedor revisa un pago, puede tardar un día.',
    ask: 'Si tarda más, pregunte a {provider}: guarda su pago hasta que se entrega. Indique la referencia de abajo.',
    support: 'Ayuda de {provider}',
  },
  rest: {
    heading: 'Cómo añadir el resto',
    askShop: 'Pregunte a {shop} cómo pagar el resto e indique la referencia de abajo.',
    fromWallet: 'Enviar el resto desde un monedero',
    howTo:
      'Envíe {missing} por la red Polygon a esta dirección. Solo cuenta USDC en Polygon; se suma a lo que ha llegado y esta página se actualiza sola.',
    address: 'Dirección en Polygon',
  },
  facts: {
    reference: 'Referencia',
    referenceAt: 'Referencia en {provider}',
    paidTo: 'Pagado a',
    amount: 'Importe',
    madeUpOf: 'Compuesto por',
    chargedBy: 'Cargo en tarjeta hecho por',
    time: 'Fecha y hora',
    arrivedWith: 'Llegó con la transacción',
    sentWith: 'Enviado a la tienda con la transacción',
    newTab: '(se abre en otra pestaña)',
  },
  assurances: {
    card: 'Los datos de su tarjeta se introducen en el proveedor, nunca en esta página. En su extracto aparecerá probablemente su nombre y no el de la tienda.',
    price:
      'El proveedor muestra lo que cobra, incluida su propia comisión, antes de que usted confirme. Puede pedirle que se identifique.',
    delivery: 'Entrega el pago a {shop} en USDC (dólares digitales).',
    email: 'Compartimos su dirección de correo, {email}, con el proveedor.',
    emailKept:
      'La tienda ha añadido una dirección de correo a este pago, {email}. Su enlace no la incluye, así que el proveedor no la recibe.',
  },
  offline: 'No hay conexión por el momento. Esta página seguirá sola en cuanto vuelva.',
  messages: {
    unknownLink: {
      heading: 'Aquí no hay ningún pago',
      sentence:
        'Puede que el enlace esté incompleto. Ábralo de nuevo desde la tienda o desde el mensaje en el que llegó.',
    },
    tooManyRequests: {
      heading: 'Demasiadas solicitudes desde su red',
      sentence: 'No se ha perdido ni cobrado nada. Espere un minuto y vuelva a cargar la página.',
    },
    onlyByButton: {
      heading: 'Empiece desde la página de pago',
      sentence: 'Esta dirección solo funciona con el botón de la página de pago.',
    },
    didNotWork: {
      heading: 'No ha funcionado',
      sentence: 'Vuelva a la página de pago e inténtelo de nuevo.',
    },
    ourFailure: {
      heading: 'Algo ha fallado por nuestra parte',
      sentence: 'No se ha cobrado en su tarjeta. Inténtelo de nuevo en un momento.',
    },
  },
  shortLink: {
    title: 'Pagar {amount} a {shop}',
    description: 'Pague a {shop} con tarjeta.',
    continue: 'Continuar al pago',
    see: 'Ver el pago',
  },
  shop: {
    support: '¿Preguntas? Contacte con {shop}',
    back: 'Volver a {shop}',
  },
  phone: {
    heading: 'Continuar en el móvil',
    hint: 'Escanee este código con la cámara de su móvil para abrir allí esta página de pago.',
    code: 'Código QR de esta página de pago',
  },
  direct: {
    heading: 'Envíe {amount}',
    waiting:
      'Esperando su transferencia. Cuenta en cuanto la red ya no puede revertirla, entre unos segundos y un minuto después.',
    partly: 'Han llegado {received}; esto es lo que falta.',
    network: 'Red',
    testNetwork: 'Red de pruebas local, cadena {chain}',
    to: 'A',
    contract: 'Contrato de USDC',
    code: 'Código QR de la transferencia, para una cartera que lo escanee',
    open: 'Abrir en su cartera',
    onlyThere: 'Solo USDC y solo en {network}: en otra red, o con otro token, no llega.',
    whole:
      'Envíe el importe completo: lo que la red o una plataforma de intercambio cobre como comisión va aparte.',
    once: 'La dirección es solo para este pago. No la use otra vez.',
  },
  mail: {
    subject: 'Recibo de {shop}: {amount}',
    paid: 'Ha pagado {amount} a {shop}.',
    page: 'Este recibo como página',
    questions: 'Preguntas sobre su pedido',
    warning: 'Nadie le pedirá datos de su tarjeta ni otro pago a causa de este correo.',
  },
};

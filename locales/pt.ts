import type { Words } from './locale.ts';

export const pt: Words = {
  languageName: 'Português',
  chooseLanguage: 'Idioma',
  sandbox: {
    name: 'Ambiente de testes.',
    sentence: 'Isto é um teste: nenhum cartão é cobrado e nenhum dinheiro real é movimentado.',
  },
  title: '{heading} – {amount} para {shop}',
  summary: { paymentTo: 'Pagamento a', parts: '{net} + {fee} de taxa' },
  steps: {
    label: 'Progresso',
    choose: 'Escolher',
    pay: 'Pagar',
    arrived: 'Recebido',
    sent: 'Na loja',
    done: '(concluído)',
  },
  states: {
    choose: {
      heading: 'Escolha como pagar',
      sentence: 'Seu cartão é cobrado pelo provedor que você escolher.',
    },
    single: { heading: 'Pagar com {provider}', sentence: 'Seu cartão é cobrado por {provider}.' },
    nobody: {
      heading: 'Este pagamento não é possível no momento',
      sentence:
        'Nenhum provedor pode aceitar este pagamento. Entre em contato com {shop} ou tente mais tarde.',
    },
    nobodyBelow: {
      heading: 'Este pagamento não é possível no momento',
      sentence:
        'Nenhum serviço de pagamento aceita este valor. É possível pagar a partir de {minimum}. Entre em contato com {shop}.',
    },
    singleCannot: {
      heading: 'Este pagamento não é possível no momento',
      sentence:
        '{provider} não pode aceitar este pagamento. Entre em contato com {shop} ou tente mais tarde.',
    },
    going: {
      heading: 'Levando você para {provider}',
      sentence: 'Leva alguns segundos. Nada foi cobrado ainda.',
    },
    waiting: {
      heading: 'Aguardando seu pagamento em {provider}',
      sentence:
        'Já pagou? Então não é preciso fazer mais nada: o pagamento aparece aqui, geralmente em poucos minutos.',
    },
    visitEnded: {
      heading: 'Sua visita a {provider} terminou',
      sentence:
        'Se {provider} cobrou seu cartão, não pague de novo: a entrega pode demorar um pouco e aparece aqui. Caso contrário, você pode recomeçar.',
    },
    taken: {
      heading: '{provider} aceitou seu pagamento',
      sentence:
        '{provider} informa que ele está a caminho de {shop}. Ele aparece aqui, geralmente em poucos minutos; não pague de novo.',
    },
    declined: {
      heading: '{provider} não aceitou seu pagamento',
      sentence: '{provider} informa que ele não foi concluído. Você pode tentar de novo.',
    },
    declinedOfSeveral: {
      heading: '{provider} não aceitou seu pagamento',
      sentence:
        '{provider} informa que ele não foi concluído. Você pode tentar de novo ou escolher outro provedor.',
    },
    underpaid: {
      heading: 'Chegou menos do que o devido',
      sentence: 'Chegaram {received}; faltam {missing}. Não pague o valor inteiro de novo.',
    },
    seen: {
      heading: 'Seu pagamento chegou',
      sentence: 'Ele está prestes a ser enviado a {shop}. Você não precisa fazer nada.',
    },
    sending: {
      heading: 'Seu pagamento está sendo enviado a {shop}',
      sentence: 'Em regra leva menos de um minuto. Você pode fechar esta página.',
    },
    held: {
      heading: 'Seu pagamento chegou, mas está atrasado',
      sentence:
        'Ele ainda não pôde ser repassado a {shop}. Está seguro e o envio é tentado de novo; não pague uma segunda vez. Se persistir, entre em contato com {shop} e informe a referência abaixo.',
    },
    paid: {
      heading: 'Pago',
      sentence: '{shop} recebeu seu pagamento. Obrigado. Você pode voltar a este recibo quando quiser.',
    },
    canceled: {
      heading: 'Este pagamento foi cancelado',
      sentence:
        'Nada havia chegado. Para pagar, recomece em {shop}. Se mesmo assim seu cartão foi cobrado, informe a {shop} a referência abaixo.',
    },
    expired: {
      heading: 'Este pagamento expirou',
      sentence:
        'Nada chegou a tempo. Para pagar, recomece em {shop}. Se mesmo assim seu cartão foi cobrado, informe a {shop} a referência abaixo.',
    },
    closedWithMoney: {
      heading: 'Seu pagamento precisa de atenção',
      sentence:
        'Algo chegou depois do encerramento, ou não era o valor inteiro. Entre em contato com {shop} e informe a referência abaixo; não pague de novo.',
    },
    closedAndReleased: {
      heading: '{shop} está com o que você enviou',
      sentence:
        'Chegou tarde demais ou não era o valor inteiro, por isso não conta como pago. Entre em contato com {shop} e informe a referência abaixo.',
    },
    overpaid:
      'Chegou mais do que este pagamento custa. Se seu cartão foi cobrado duas vezes, peça um reembolso a {shop} e informe a referência abaixo.',
    littleArrived: 'Chegou um pequeno valor, muito longe do preço; o valor inteiro ainda precisa ser pago.',
  },
  actions: {
    continueTo: 'Continuar para {provider}',
    continueAt: 'Continuar em {provider}',
    startAgainAt: 'Recomeçar em {provider}',
    chooseAnother: 'Escolher outro provedor',
    checkAgain: 'Verificar de novo',
    print: 'Imprimir ou salvar o recibo',
    backToCheckout: 'Voltar ao pagamento',
  },
  offers: {
    payAt: 'Pagar com {provider}',
    minimum: 'mín. {amount}',
    delivers: 'chegam {amount}',
    best: 'Melhor oferta',
    lastChoice: 'Sua última escolha',
    country: 'País onde você mora',
    countryHint: '{provider} pede essa informação.',
    noneChosen: 'Escolha',
    notForThis: 'Indisponíveis para este pagamento',
    onlyFrom: 'Somente a partir de {minimum}',
    onlyFromThisIs: 'Somente a partir de {minimum}; isto vale cerca de {value}',
    onlyUpTo: 'Somente até {maximum}',
    onlyCurrency: 'Somente para pagamentos em {currency}',
    inactive: 'Indisponível no momento',
    silent: 'Não responde no momento',
    busy: 'Ocupado no momento',
    accountNeeded: 'Requer uma conta {provider}',
  },
  problems: {
    noSuchProvider: 'Esse provedor não existe. Escolha um abaixo.',
    otherProvider: 'Este pagamento é para outro provedor.',
    busy: '{provider} está ocupado no momento. Seu cartão não foi cobrado. Tente de novo em alguns segundos.',
    busyOfSeveral:
      '{provider} está ocupado no momento. Seu cartão não foi cobrado. Tente de novo em alguns segundos ou escolha outro provedor.',
    unreachable:
      'Não foi possível contatar {provider}. Seu cartão não foi cobrado. Tente de novo em instantes.',
    unreachableOfSeveral:
      'Não foi possível contatar {provider}. Seu cartão não foi cobrado. Tente de novo em instantes ou escolha outro provedor.',
    inactive: '{provider} não está disponível no momento. Seu cartão não foi cobrado.',
    onlyCurrency: '{provider} não aceita pagamentos em {currency}.',
    belowMinimum: '{amount} é menos do que {provider} aceita.',
    aboveMaximum: '{amount} é mais do que {provider} aceita.',
    tooOften: '{provider} foi aberto vezes demais a partir deste pagamento. Tente de novo em uma hora.',
    shopCannotReceive: '{shop} não pode receber pagamentos no momento. Entre em contato com {shop}.',
    networkDown:
      'Não é possível acessar a rede de pagamentos. Seu cartão não foi cobrado. Tente de novo em breve.',
    countryMissing: 'Escolha seu país: {provider} pede essa informação.',
    notFromHere: 'Use os botões desta página para continuar.',
    other: 'Não funcionou. Seu cartão não foi cobrado. Tente de novo em instantes.',
  },
  missing: {
    question: 'Foi cobrado, mas nada aparece aqui?',
    usual:
      'A entrega geralmente leva poucos minutos; quando o provedor analisa um pagamento, pode levar um dia.',
    ask: 'Se demorar mais, pergunte a {provider}, que guarda seu pagamento até a entrega. Informe a referência abaixo.',
    support: 'Ajuda de {provider}',
  },
  rest: {
    heading: 'Como completar o valor',
    askShop: 'Pergunte a {shop} como pagar o restante e informe a referência abaixo.',
    fromWallet: 'Enviar o restante de uma carteira',
    howTo:
      'Envie {missing} pela rede Polygon para este endereço. Só USDC na Polygon conta; ele é somado ao que chegou, e esta página se atualiza sozinha.',
    address: 'Endereço na Polygon',
  },
  facts: {
    reference: 'Referência',
    referenceAt: 'Referência em {provider}',
    paidTo: 'Pago a',
    amount: 'Valor',
    madeUpOf: 'Composto de',
    chargedBy: 'Cartão cobrado por',
    time: 'Data e hora',
    arrivedWith: 'Chegou com a transação',
    sentWith: 'Enviado à loja com a transação',
    newTab: '(abre em nova aba)',
  },
  assurances: {
    card: 'Você informa seu cartão no provedor, nunca nesta página. Na sua fatura provavelmente aparecerá o nome dele, não o da loja.',
    price:
      'O provedor mostra o que cobra, incluindo a própria taxa, antes de você confirmar. Ele pode perguntar quem você é.',
    delivery: 'Ele entrega o pagamento a {shop} em USDC (dólares digitais).',
    email: 'Compartilhamos seu endereço de e-mail, {email}, com o provedor.',
    emailKept:
      'A loja informou um endereço de e-mail para este pagamento, {email}. Seu link não o contém, por isso o provedor não o recebe.',
  },
  offline: 'Sem conexão no momento. Esta página continua sozinha assim que ela voltar.',
  messages: {
    unknownLink: {
      heading: 'Não há nenhum pagamento aqui',
      sentence:
        'O link pode estar incompleto. Abra-o de novo a partir da loja ou da mensagem em que ele veio.',
    },
    tooManyRequests: {
      heading: 'Solicitações demais da sua rede',
      sentence: 'Nada se perdeu e nada foi cobrado. Espere um minuto e recarregue a página.',
    },
    onlyByButton: {
      heading: 'Comece pela página de pagamento',
      sentence: 'Este endereço só funciona pelo botão da página de pagamento.',
    },
    didNotWork: {
      heading: 'Não funcionou',
      sentence: 'Volte à página de pagamento e tente de novo.',
    },
    ourFailure: {
      heading: 'Algo deu errado do nosso lado',
      sentence: 'Seu cartão não foi cobrado por isso. Tente de novo em instantes.',
    },
  },
  shortLink: {
    title: 'Pagar {amount} a {shop}',
    description: 'Pague {shop} com cartão.',
    continue: 'Continuar para o pagamento',
    see: 'Ver o pagamento',
  },
  shop: {
    support: 'Dúvidas? Fale com {shop}',
    back: 'Voltar para {shop}',
  },
  phone: {
    heading: 'Continuar no celular',
    hint: 'Leia este código com a câmera do celular para abrir esta página de pagamento nele.',
    code: 'Código QR desta página de pagamento',
  },
  direct: {
    heading: 'Envie {amount}',
    waiting:
      'Aguardando a sua transferência. Ela conta assim que a rede não puder mais desfazê-la, de segundos a um minuto depois.',
    partly: 'Chegaram {received}; isto é o que falta.',
    network: 'Rede',
    testNetwork: 'Rede de testes local, cadeia {chain}',
    to: 'Para',
    contract: 'Contrato do USDC',
    code: 'Código QR da transferência, para uma carteira que o leia',
    open: 'Abrir na sua carteira',
    onlyThere: 'Somente USDC e somente na rede {network}: em outra rede, ou como outro token, não chega.',
    whole: 'Envie o valor inteiro: o que a rede ou uma corretora cobrar de taxa é à parte.',
    once: 'O endereço vale só para este pagamento. Não o use de novo.',
  },
  mail: {
    subject: 'Recibo de {shop}: {amount}',
    paid: 'Você pagou {amount} a {shop}.',
    page: 'Este recibo como página',
    questions: 'Perguntas sobre o seu pedido',
    warning: 'Ninguém pedirá dados do seu cartão nem outro pagamento por causa deste e-mail.',
  },
};

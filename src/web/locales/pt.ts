import type { Words } from './locale.ts';

export const pt: Words = {
  languageName: 'Português',
  chooseLanguage: 'Idioma',
  sandbox: {
    name: 'Ambiente de testes.',
    sentence: 'Isto é um teste: nada é cobrado no cartão e nenhum dinheiro real é movimentado.',
  },
  title: '{heading} – {amount} para {shop}',
  summary: {
    paymentTo: 'Pagamento a',
    parts: '{net} + {fee} de taxa',
    fee: 'Taxa de serviço',
    total: 'Total',
    until: 'Você pode pagar até {time}.',
  },
  steps: {
    label: 'Progresso',
    done: '(concluído)',
  },
  states: {
    choose: { heading: 'Como você quer pagar?' },
    single: {
      heading: 'Pagar com {provider}',
      sentence: 'A cobrança no seu cartão é feita por {provider}.',
    },
    nobody: {
      heading: 'Este pagamento não é possível no momento',
      sentence:
        'Nenhum serviço de pagamento pode aceitar este pagamento. Entre em contato com {shop} ou tente mais tarde.',
    },
    nobodyHere: {
      heading: 'Não disponível neste país: {country}',
      sentence:
        'Nenhum serviço de pagamento pode aceitar este pagamento de clientes neste país ({country}). ' +
        'Se você mora em outro lugar, escolha seu país. Caso contrário, fale com {shop}.',
    },
    nobodyBelow:
      'Nenhum serviço de pagamento aceita este valor. É possível pagar a partir de {minimum}. Entre em contato com {shop}.',
    nobodyIn:
      'Nenhum serviço de pagamento aceita {currency} para este pagamento. Entre em contato com {shop}.',
    singleCannot:
      '{provider} não pode aceitar este pagamento. Entre em contato com {shop} ou tente mais tarde.',
    going: {
      heading: 'Redirecionando para {provider}',
      sentence: 'Leva alguns segundos. Nada foi cobrado no seu cartão ainda.',
    },
    waiting: {
      heading: 'Aguardando seu pagamento em {provider}',
      sentence:
        'Já pagou? Você não precisa fazer nada. Seu pagamento aparece aqui, geralmente em poucos minutos.',
    },
    visitEnded: {
      heading: 'Sua sessão em {provider} expirou',
      sentence:
        'Se {provider} fez uma cobrança no seu cartão, não pague de novo: o pagamento pode demorar um pouco e aparece aqui. Caso contrário, recomece.',
    },
    taken: {
      heading: 'Seu cartão foi aprovado',
      sentence: 'Seu dinheiro está a caminho de {shop}.',
    },
    declined: {
      heading: 'Pagamento recusado.\nNada foi cobrado.',
      sentence: '{provider} informa que seu pagamento de {amount} não foi concluído.',
    },
    underpaid: {
      heading: 'Quase lá: pague {missing} para concluir',
      sentence: 'Parte do seu pagamento chegou. {missing} completam o valor, já com a tarifa do serviço.',
    },
    incomplete: {
      heading: 'Seu pagamento está incompleto',
      sentence: 'Parte do seu pagamento chegou; faltam cerca de {missing}. Não pague o valor total de novo.',
    },
    seen: {
      heading: 'Recebemos seu pagamento',
      sentence: 'Estamos enviando o pagamento a {shop}. Você não precisa fazer nada.',
    },
    sending: {
      heading: 'Seu pagamento está sendo enviado a {shop}',
      sentence: 'Geralmente leva menos de um minuto.',
    },
    held: {
      heading: 'Recebemos seu pagamento, mas há um atraso',
      sentence:
        'Ainda não foi possível enviar {amount} a {shop}. O dinheiro está seguro e continuamos tentando. ' +
        'Não pague de novo. Se o atraso continuar, entre em contato com {shop} e informe a referência abaixo.',
    },
    paid: {
      heading: 'Pagamento concluído',
      sentence: '{shop} recebeu seu pagamento. Obrigado. Você pode voltar a este recibo quando quiser.',
    },
    canceled: {
      heading: 'Este pagamento foi cancelado',
      sentence:
        'Nenhum pagamento foi recebido. Para pagar {amount}, recomece em {shop}. Se houve cobrança no seu cartão, informe a {shop} a referência abaixo.',
    },
    expired: {
      heading: 'Este pagamento expirou',
      sentence:
        'Nenhum pagamento foi recebido dentro do prazo. Para pagar {amount}, recomece em {shop}. ' +
        'Se houve cobrança no seu cartão, informe a {shop} a referência abaixo.',
    },
    closedWithMoney: {
      heading: 'Seu pagamento precisa de atenção',
      sentence:
        'Recebemos cerca de {received} de {amount}, fora do prazo ou só em parte. ' +
        'O dinheiro está guardado para {shop}. Entre em contato com {shop} e informe a referência abaixo. Não pague de novo.',
    },
    closedAndReleased: {
      heading: '{shop} recebeu seu dinheiro',
      sentence:
        'Recebemos cerca de {received} de {amount}, fora do prazo ou só em parte, por isso este pagamento não consta como concluído. ' +
        'Fale com {shop} sobre seu pedido e informe a referência abaixo.',
    },
    overpaid:
      'Recebemos cerca de {received}, {surplus} a mais. Tudo vai para {shop}. Peça a {shop} que reembolse a diferença e informe a referência abaixo.',
    paidTwice:
      'Recebemos seu pagamento mais de uma vez: cerca de {received} no total. Tudo vai para {shop}. ' +
      'Peça a {shop} que reembolse o pagamento duplicado e informe a referência abaixo.',
    paidAgain:
      'Outro pagamento seu está em andamento em {holders}. Ele também vai para {shop}. ' +
      'Peça a {shop} que o reembolse e informe a referência abaixo.',
    littleArrived: 'Recebemos um valor muito pequeno. O valor total ainda precisa ser pago.',
  },
  actions: {
    continueTo: 'Continuar para {provider}',
    continueAt: 'Continuar em {provider}',
    startAgainAt: 'Recomeçar em {provider}',
    tryAnotherCard: 'Tentar outro cartão na {provider}',
    print: 'Imprimir ou salvar o recibo',
    tryAgain: 'Tentar novamente',
    backToCheckout: 'Voltar ao pagamento',
  },
  offers: {
    payAt: 'Pagar com {provider}',
    pay: 'Pagar {amount}',
    through: 'Via {provider}',
    change: 'Alterar',
    all: 'Todos os {count} serviços',
    payInstead: 'Pagar com {provider}',
    otherWays: 'Outras formas de pagamento ({count})',
    card: 'Cartão',
    lastChoice: 'Sua última escolha',
    country: 'Em que país você mora?',
    countryReason: '{provider} precisa saber seu país.',
    noneChosen: 'Selecione',
    notForThis: 'Indisponíveis para este pagamento',
    onlyFrom: 'Somente a partir de {minimum}',
    onlyFromThisIs: 'Somente a partir de {minimum}; este pagamento equivale a cerca de {value}',
    onlyUpTo: 'Somente até {maximum}',
    onlyCurrency: 'Somente para pagamentos em {currency}',
    inactive: 'Indisponível no momento',
    silent: 'Temporariamente indisponível',
    busy: 'Sobrecarregado no momento',
    charges: 'Lá você paga {amount}, taxas incluídas',
    accountNeeded: 'Requer uma conta {provider}',
    usually: 'Geralmente {time}',
    idNeeded: 'Documento de identidade na primeira compra',
  },
  problems: {
    noSuchProvider: 'Esse serviço de pagamento não existe. Escolha um abaixo.',
    otherProvider: 'Este pagamento é para outro serviço de pagamento.',
    busy: '{provider} está sobrecarregado no momento. Nada foi cobrado no seu cartão. Tente de novo em alguns segundos.',
    unreachable:
      'Não foi possível contatar {provider}. Nada foi cobrado no seu cartão. Tente de novo em instantes.',
    orOther: 'Ou escolha outra forma de pagamento.',
    inactive: '{provider} não está disponível no momento. Nada foi cobrado no seu cartão.',
    onlyCurrency: '{provider} não aceita pagamentos em {currency}.',
    unserved: '{provider} não atende clientes da sua região.',
    belowMinimum: '{amount} está abaixo do valor mínimo de {provider}.',
    aboveMaximum: '{amount} está acima do valor máximo de {provider}.',
    tooOften: '{provider} foi aberto vezes demais a partir deste pagamento. Tente de novo em uma hora.',
    shopCannotReceive: '{shop} não pode receber pagamentos no momento. Entre em contato com {shop}.',
    networkDown:
      'Não foi possível conectar à rede de pagamentos. Nada foi cobrado no seu cartão. Tente de novo em breve.',
    countryMissing: 'Escolha seu país: {provider} precisa dessa informação.',
    chooseOther: 'Escolha outra forma de pagamento.',
    contactShop: 'Fale com {shop}.',
    notFromHere: 'Use os botões desta página para continuar.',
    other: 'Não funcionou. Nada foi cobrado no seu cartão. Tente de novo em instantes.',
  },
  wait: {
    elapsed: 'de espera',
    approved: 'Seu pagamento foi aprovado',
    usual: 'Geralmente leva {time}.',
    once: 'Não pague de novo.',
    approvedBy: 'Aprovado por {provider}',
    onItsWay: 'A caminho',
    sending: '{provider} está enviando o valor ao endereço deste pagamento.',
    confirmed: 'Confirmado',
    withShop: 'Com {shop}',
    now: 'agora',
    close: 'Você pode fechar esta página.',
    longer: 'Está demorando mais?',
  },
  receipt: {
    paidTo: 'pago a {shop}',
    for: 'Referente a',
    price: 'Preço + taxa',
    statement: 'Provavelmente na sua fatura',
    number: 'Recibo nº',
    proven: 'Comprovado em {network}.',
    sent: 'O contrato enviou {usdc} a {shop}.',
    sentWithin: 'O contrato enviou {usdc} a {shop} em até {time} após a aprovação do seu cartão.',
    transactions: 'Ver as duas transações',
  },
  missing: {
    question: 'A cobrança foi feita, mas nada aparece aqui?',
    usual:
      'O pagamento geralmente chega em poucos minutos. Se o serviço de pagamento o analisar, pode levar um dia.',
    ask: 'Se demorar mais, fale com {provider}, que mantém seu pagamento até a entrega, e informe a referência abaixo.',
    support: 'Suporte de {provider}',
  },
  rest: {
    heading: 'Como pagar o restante',
    askShop: 'Pergunte a {shop} como pagar o restante e informe a referência abaixo.',
    fromWallet: 'Enviar o restante de uma carteira',
  },
  facts: {
    reference: 'Referência',
    copyReference: 'Copiar a referência',
    referenceAt: 'Referência em {provider}',
    amount: 'Valor',
    time: 'Data e hora',
    arrivedWith: 'Transação recebida',
    sentWith: 'Transação para a loja',
    newTab: '(abre em nova aba)',
    details: 'Detalhes da transação',
  },
  assurances: {
    exact: 'Você conclui em {provider} e paga lá exatamente {amount}.',
    above: 'Você conclui em {provider} e paga lá {amount}, taxas incluídas.',
    statement: 'Sua fatura provavelmente mostrará {provider}.',
    money: 'O dinheiro só pode ir para {shop}, menos a taxa de serviço, se houver.',
    check: 'Confira',
    email: 'Compartilhamos seu e-mail, {email}, com o serviço de pagamento.',
    emailToSome:
      'Se o serviço de pagamento aceitar um e-mail enviado por nós, compartilhamos o seu, {email}, com ele.',
    emailKept:
      'A loja informou um e-mail para este pagamento: {email}. Seu link não o contém, por isso não o compartilhamos com o serviço de pagamento.',
  },
  offline: 'Você está offline. Esta página continuará automaticamente assim que a conexão voltar.',
  messages: {
    unknownPage: {
      heading: 'Página não encontrada',
      sentence:
        'Não há nada neste endereço. Para pagar, abra de novo o link da loja ou da mensagem em que o recebeu.',
    },
    unknownLink: {
      heading: 'Pagamento não encontrado',
      sentence:
        'O link pode estar incompleto. Abra-o de novo a partir da loja ou da mensagem em que você o recebeu.',
    },
    tooManyRequests: {
      heading: 'Muitas solicitações vindas da sua rede',
      sentence: 'Nada se perdeu e nada foi cobrado no seu cartão. Espere um minuto e recarregue a página.',
    },
    didNotWork: {
      heading: 'Não funcionou',
      sentence: 'Volte à página de pagamento e tente de novo.',
    },
    ourFailure: {
      heading: 'Algo deu errado do nosso lado',
      sentence: 'Nada foi cobrado no seu cartão. Tente de novo em instantes.',
    },
  },
  shortLink: {
    title: 'Pagar {amount} a {shop}',
    description: 'Pague {shop} com cartão.',
    continue: 'Continuar para o pagamento',
    see: 'Ver o pagamento',
  },
  shop: {
    contact: 'Falar com {shop}',
    support: 'Dúvidas? Fale com {shop}',
    terms: 'Termos de {shop}',
    back: 'Voltar para {shop}',
    leadsTo: 'Este link leva a {host}.',
    automatic: 'Em {seconds} segundos, você irá para {host}.',
    stay: 'Ficar nesta página',
  },
  phone: {
    heading: 'Continuar no celular',
    hint: 'Leia este código com a câmera do celular para abrir esta página de pagamento nele.',
    code: 'QR Code desta página de pagamento',
  },
  direct: {
    heading: 'Envie {amount}',
    waiting:
      'Aguardando a sua transferência. Ela é considerada recebida quando se torna definitiva na rede, em alguns segundos ou até um minuto.',
    partly: 'Recebemos {received}. Este é o valor que falta.',
    network: 'Rede',
    testNetwork: 'Rede de testes local, chain ID {chain}',
    to: 'Para',
    contract: 'Contrato do USDC',
    code: 'QR Code da transferência, para ler com uma carteira',
    codeWhole: 'Endereço e valor',
    codeAddress: 'Só o endereço',
    codeAddressHint: 'Para aplicativos que não leem o outro código. Digite o valor você mesmo.',
    openHint: 'Nada acontece? Copie o valor e o endereço para a sua carteira.',
    networkMissing: 'Sua carteira não mostra {network}?',
    networkAdd: 'Adicione-a nas configurações de rede da carteira com estes valores.',
    open: 'Abrir na sua carteira',
    copy: 'Copiar',
    payWith: 'Pagar com {wallet}',
    sent: 'Sua carteira enviou a transferência. Aguardando a rede.',
    refused: 'Sua carteira não enviou a transferência. Nada foi pago.',
    onlyThere:
      'Envie somente USDC e somente pela rede {network}. Qualquer outro envio não chegará e pode se perder.',
    whole: 'Envie o valor total. As taxas da rede ou de uma corretora são à parte.',
    once: 'Use este endereço somente para este pagamento.',
  },
  page: {
    amount: 'Valor em {currency}',
    amountHint: 'De {minimum} a {maximum}',
    suggested: 'Valores sugeridos',
    left: 'Disponíveis: {count}',
    amountWrong: 'Digite um valor de {minimum} a {maximum}.',
    amountUnclear: 'Digite o valor com duas casas decimais, por exemplo {example}.',
    optional: '{question} (opcional)',
    answerHint: 'Só {shop} vê sua resposta.',
    answerMissing: 'Responda a esta pergunta.',
    answerTooLong: 'No máximo {count} caracteres em uma só linha.',
    feeAdded: 'Há uma taxa adicional. A próxima página mostra o total antes do pagamento.',
    pay: 'Continuar para o pagamento',
    busy: 'Muitos pagamentos estão sendo iniciados aqui. Nada foi cobrado. Tente de novo em alguns minutos.',
    paused: {
      heading: 'Esta página não aceita pagamentos no momento',
      sentence: 'Nada foi cobrado. Entre em contato com {shop} ou tente mais tarde.',
    },
    ended: { heading: 'Esta oferta terminou' },
    sold_out: { heading: 'Esgotado' },
    noMore: 'Esta página não aceita mais pagamentos. Em caso de dúvidas, entre em contato com {shop}.',
    reserved: {
      heading: 'Esgotado no momento',
      sentence:
        'Outros clientes estão pagando as últimas unidades. O que não for pago em {minutes} minutos volta a ficar disponível.',
    },
  },
  mail: {
    subject: 'Recibo de {shop}: {amount}',
    paid: 'Você pagou {amount} a {shop}.',
    page: 'Este recibo online',
    questions: 'Perguntas sobre o seu pedido',
    warning: 'Ninguém pedirá os dados do seu cartão nem outro pagamento por causa deste e-mail.',
    tell: 'Avisaremos por e-mail quando terminar.',
    told: 'Anotado: avisaremos por e-mail quando terminar.',
    own: 'Seu recibo chega por e-mail.',
    address: 'Seu e-mail',
    send: 'Avise-me',
    once: 'Só para este e-mail; depois é apagado. {shop} não o vê.',
    another: 'Usar outro endereço',
    receipt: 'Receber este recibo por e-mail',
    coming: 'Seu recibo está a caminho por e-mail.',
    wrong: 'Informe um e-mail como nome@example.com.',
    tooOften: 'Não é possível pedir mais e-mails aqui agora. Tente novamente mais tarde.',
    asked:
      'Você recebe este único e-mail porque seu endereço foi informado na página deste pagamento. Ele já foi apagado.',
  },
};

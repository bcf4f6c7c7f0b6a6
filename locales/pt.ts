import type { Words } from './locale.ts';

export const pt: Words = {
  languageName: 'Português',
  chooseLanguage: 'Idioma',
  sandbox: {
    name: 'Ambiente de testes.',
    sentence: 'Isto é um teste: nenhum cartão é cobrado e nenhum dinheiro real é movimentado.',
  },
  title: '{heading} – {amount} para {shop}',
  summary: {
    paymentTo: 'Pagamento a',
    parts: '{net} + {fee} de taxa',
    until: 'Você pode pagar até {time}.',
  },
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
      heading: 'Escolha uma forma de pagamento',
      sentence: 'Seu cartão é cobrado pelo serviço de pagamento que você escolher.',
    },
    single: {
      heading: 'Pagar com {provider}',
      sentence: 'Seu cartão é cobrado por {provider}.',
    },
    nobody: {
      heading: 'Este pagamento não é possível no momento',
      sentence:
        'Nenhum serviço de pagamento pode aceitar este pagamento. Entre em contato com {shop} ou tente mais tarde.',
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
        'Já pagou? Você não precisa fazer nada. Seu pagamento aparece aqui, geralmente em poucos minutos.',
    },
    visitEnded: {
      heading: 'Sua sessão em {provider} expirou',
      sentence:
        'Se {provider} cobrou seu cartão, não pague de novo: o pagamento pode demorar um pouco e aparece aqui. Caso contrário, recomece.',
    },
    taken: {
      heading: 'Pagamento aprovado. Estamos confirmando.',
      sentence:
        '{provider} informa que seu pagamento de {amount} está a caminho de {shop}. Ele aparece aqui, geralmente em poucos minutos. Não pague de novo.',
    },
    declined: {
      heading: 'Pagamento recusado. Nada foi cobrado.',
      sentence:
        '{provider} informa que seu pagamento de {amount} não foi concluído. Você pode tentar de novo.',
    },
    declinedOfSeveral: {
      heading: 'Pagamento recusado. Nada foi cobrado.',
      sentence:
        '{provider} informa que seu pagamento de {amount} não foi concluído. Escolha outra forma de pagamento ou tente de novo.',
    },
    underpaid: {
      heading: 'Seu pagamento está incompleto',
      sentence:
        'Recebemos cerca de {received} e faltam cerca de {missing}. Não pague o valor inteiro de novo.',
    },
    seen: {
      heading: 'Recebemos seu pagamento',
      sentence: 'Estamos enviando o pagamento a {shop}. Você não precisa fazer nada.',
    },
    sending: {
      heading: 'Seu pagamento está sendo enviado a {shop}',
      sentence: 'Geralmente leva menos de um minuto. Você pode fechar esta página.',
    },
    held: {
      heading: 'Recebemos seu pagamento, mas há um atraso',
      sentence:
        'Ainda não foi possível enviar {amount} a {shop}. O dinheiro está seguro e continuamos tentando. Não pague de novo. Se o atraso continuar, entre em contato com {shop} e informe a referência abaixo.',
    },
    paid: {
      heading: 'Pago',
      sentence: '{shop} recebeu seu pagamento. Obrigado. Você pode voltar a este recibo quando quiser.',
    },
    canceled: {
      heading: 'Este pagamento foi cancelado',
      sentence:
        'Nenhum pagamento foi recebido. Para pagar {amount}, recomece em {shop}. Se seu cartão foi cobrado, informe a {shop} a referência abaixo.',
    },
    expired: {
      heading: 'Este pagamento expirou',
      sentence:
        'Nenhum pagamento foi recebido a tempo. Para pagar {amount}, recomece em {shop}. Se seu cartão foi cobrado, informe a {shop} a referência abaixo.',
    },
    closedWithMoney: {
      heading: 'Seu pagamento precisa de atenção',
      sentence:
        'Foram recebidos cerca de {received} de {amount}, tarde demais ou só em parte. O dinheiro está guardado para {shop}. Entre em contato com {shop} e informe a referência abaixo. Não pague de novo.',
    },
    closedAndReleased: {
      heading: '{shop} recebeu seu dinheiro',
      sentence:
        'Foram recebidos cerca de {received} de {amount}, tarde demais ou só em parte, por isso este pagamento não conta como pago. Fale com {shop} sobre seu pedido e informe a referência abaixo.',
    },
    overpaid:
      'Foram recebidos cerca de {received}, {surplus} a mais. {shop} recebeu tudo. Peça a {shop} que devolva a diferença e informe a referência abaixo.',
    paidTwice:
      'Seu pagamento foi recebido mais de uma vez: cerca de {received} no total. {shop} recebeu tudo. Peça a {shop} que devolva o pagamento duplicado e informe a referência abaixo.',
    littleArrived: 'Foi recebido um valor muito pequeno. O valor inteiro ainda precisa ser pago.',
  },
  actions: {
    continueTo: 'Continuar para {provider}',
    continueAt: 'Continuar em {provider}',
    startAgainAt: 'Recomeçar em {provider}',
    chooseAnother: 'Outras formas de pagamento',
    checkAgain: 'Verificar de novo',
    print: 'Imprimir ou salvar o recibo',
    backToCheckout: 'Voltar ao pagamento',
  },
  offers: {
    payAt: 'Pagar com {provider}',
    payWith: 'Pagar {amount} com {provider}',
    otherWays: 'Outras formas de pagamento ({count})',
    card: 'Cartão',
    lastChoice: 'Sua última escolha',
    country: 'Em que país você mora?',
    countryHint: '{provider} precisa saber seu país.',
    noneChosen: 'Escolha',
    notForThis: 'Indisponíveis para este pagamento',
    onlyFrom: 'Somente a partir de {minimum}',
    onlyFromThisIs: 'Somente a partir de {minimum}; isto vale cerca de {value}',
    onlyUpTo: 'Somente até {maximum}',
    onlyCurrency: 'Somente para pagamentos em {currency}',
    inactive: 'Indisponível no momento',
    silent: 'Temporariamente indisponível',
    busy: 'Sobrecarregado no momento',
    accountNeeded: 'Requer uma conta {provider}',
    usually: 'Geralmente {time}',
    idNeeded: 'Documento de identidade na primeira compra',
  },
  problems: {
    noSuchProvider: 'Esse serviço de pagamento não existe. Escolha um abaixo.',
    otherProvider: 'Este pagamento é para outro serviço de pagamento.',
    busy: '{provider} está sobrecarregado no momento. Seu cartão não foi cobrado. Tente de novo em alguns segundos.',
    busyOfSeveral:
      '{provider} está sobrecarregado no momento. Seu cartão não foi cobrado. Tente de novo em alguns segundos ou escolha outra forma de pagamento.',
    unreachable:
      'Não foi possível contatar {provider}. Seu cartão não foi cobrado. Tente de novo em instantes.',
    unreachableOfSeveral:
      'Não foi possível contatar {provider}. Seu cartão não foi cobrado. Tente de novo em instantes ou escolha outra forma de pagamento.',
    inactive: '{provider} não está disponível no momento. Seu cartão não foi cobrado.',
    onlyCurrency: '{provider} não aceita pagamentos em {currency}.',
    belowMinimum: '{amount} é menos do que {provider} aceita.',
    aboveMaximum: '{amount} é mais do que {provider} aceita.',
    tooOften: '{provider} foi aberto vezes demais a partir deste pagamento. Tente de novo em uma hora.',
    shopCannotReceive: '{shop} não pode receber pagamentos no momento. Entre em contato com {shop}.',
    networkDown:
      'Não é possível acessar a rede de pagamentos. Seu cartão não foi cobrado. Tente de novo em breve.',
    countryMissing: 'Escolha seu país: {provider} precisa dessa informação.',
    notFromHere: 'Use os botões desta página para continuar.',
    other: 'Não funcionou. Seu cartão não foi cobrado. Tente de novo em instantes.',
  },
  missing: {
    question: 'Foi cobrado, mas nada aparece aqui?',
    usual:
      'O pagamento geralmente chega em poucos minutos. Se o serviço de pagamento o analisar, pode levar um dia.',
    ask: 'Se demorar mais, pergunte a {provider}, que guarda seu pagamento até a entrega. Informe a referência abaixo.',
    support: 'Ajuda de {provider}',
  },
  rest: {
    heading: 'Como pagar o restante',
    askShop: 'Pergunte a {shop} como pagar o restante e informe a referência abaixo.',
    fromWallet: 'Enviar o restante de uma carteira',
    howTo:
      'Envie {missing} pela rede Polygon para este endereço. Só USDC na Polygon conta. O valor é somado ao que já foi recebido, e esta página se atualiza sozinha.',
    address: 'Endereço na Polygon',
  },
  facts: {
    reference: 'Referência',
    referenceAt: 'Referência em {provider}',
    paidTo: 'Pago a',
    amount: 'Valor',
    madeUpOf: 'Detalhamento',
    chargedBy: 'Cartão cobrado por',
    time: 'Data e hora',
    arrivedWith: 'Recebido com a transação',
    sentWith: 'Enviado à loja com a transação',
    newTab: '(abre em nova aba)',
    details: 'Detalhes da transação',
  },
  assurances: {
    card: 'Você informa os dados do cartão no serviço de pagamento, nunca nesta página. Na sua fatura provavelmente aparecerá o nome dele, não o da loja.',
    price:
      'O serviço de pagamento mostra o total, incluindo a taxa dele, antes de você confirmar. Talvez seja preciso verificar sua identidade.',
    delivery: 'O serviço de pagamento entrega o pagamento a {shop} em USDC (dólares digitais).',
    email: 'Compartilhamos seu e-mail, {email}, com o serviço de pagamento.',
    emailKept:
      'A loja informou um e-mail para este pagamento, {email}. Seu link não o contém, por isso não o compartilhamos com o serviço de pagamento.',
  },
  offline: 'Você está offline. Esta página continua sozinha assim que a conexão voltar.',
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
      sentence: 'Seu cartão não foi cobrado. Tente de novo em instantes.',
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
    automatic: 'Você irá para {host} em {seconds} segundos.',
    stay: 'Ficar nesta página',
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
    partly: 'Foram recebidos {received}. Este é o valor que falta.',
    network: 'Rede',
    testNetwork: 'Rede de testes local, cadeia {chain}',
    to: 'Para',
    contract: 'Contrato do USDC',
    code: 'Código QR da transferência, para uma carteira que o leia',
    open: 'Abrir na sua carteira',
    copy: 'Copiar',
    copied: 'Copiado',
    payWith: 'Pagar com {wallet}',
    sent: 'Sua carteira enviou a transferência. Aguardando a rede.',
    refused: 'Sua carteira não enviou a transferência. Nada foi pago.',
    onlyThere:
      'Envie somente USDC e somente pela rede {network}. Qualquer outra coisa não chega e pode se perder.',
    whole: 'Envie o valor inteiro. As taxas da rede ou de uma corretora são à parte.',
    once: 'Use este endereço somente para este pagamento.',
  },
  page: {
    amount: 'Valor em {currency}',
    amountHint: 'De {minimum} a {maximum}',
    amountWrong: 'Digite um valor de {minimum} a {maximum}.',
    amountUnclear: 'Escreva o valor com duas casas decimais, por exemplo {example}.',
    optional: '{question} (opcional)',
    answerHint: 'Só {shop} vê sua resposta.',
    answerMissing: 'Responda a esta pergunta.',
    answerTooLong: 'No máximo {count} caracteres em uma só linha.',
    feeAdded: 'Uma taxa é acrescentada. A próxima página mostra o total antes do pagamento.',
    pay: 'Continuar para o pagamento',
    busy: 'Muitos pagamentos estão sendo iniciados aqui. Nada foi cobrado. Tente de novo em alguns minutos.',
    paused: {
      heading: 'Esta página não aceita pagamentos no momento',
      sentence: 'Nada foi cobrado. Entre em contato com {shop} ou tente mais tarde.',
    },
    ended: {
      heading: 'Esta oferta terminou',
      sentence: 'Esta página não aceita mais pagamentos. Em caso de dúvidas, entre em contato com {shop}.',
    },
    sold_out: {
      heading: 'Esgotado',
      sentence: 'Esta página não aceita mais pagamentos. Em caso de dúvidas, entre em contato com {shop}.',
    },
    reserved: {
      heading: 'Esgotado no momento',
      sentence:
        'Outros clientes estão pagando os últimos. O que não for pago em {minutes} minutos volta a ficar disponível.',
    },
  },
  refund: {
    awaiting_address: {
      heading: '{shop} vai reembolsar {amount} a você',
      sentence:
        'O reembolso chega em USDC (dólares digitais) na rede Polygon. Informe o endereço da sua própria carteira ou o endereço em que a sua corretora aceita USDC na Polygon.',
    },
    address: 'Seu endereço na Polygon',
    hint: 'Começa com 0x e tem 42 caracteres. Copie-o em vez de digitá-lo.',
    wrong: 'Este endereço não pode ser usado. Copie-o novamente da sua carteira ou corretora.',
    send: 'Enviar este endereço',
    once: 'Você só pode informar um endereço uma vez. {shop} o confere com você antes da transferência.',
    notYours: 'Se este endereço não for seu, fale com {shop} imediatamente.',
    warning:
      'Esta página pede apenas um endereço: nunca um cartão, uma senha, uma frase de recuperação ou um pagamento. Se você não espera um reembolso de {shop}, feche-a.',
    awaiting_confirmation: {
      heading: '{shop} recebeu o seu endereço',
      sentence: '{shop} o confere com você e depois transfere {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} vai transferir o seu reembolso',
      sentence: 'O endereço está confirmado. {shop} transfere {amount} para ele.',
    },
    paid: {
      heading: 'O seu reembolso foi transferido',
      sentence: '{shop} o transferiu para o seu endereço.',
    },
    expired: {
      heading: 'Este link não é mais válido',
      sentence: 'Peça um novo link a {shop} se você ainda espera um reembolso.',
    },
  },
  mail: {
    subject: 'Recibo de {shop}: {amount}',
    paid: 'Você pagou {amount} a {shop}.',
    page: 'Este recibo on-line',
    questions: 'Perguntas sobre o seu pedido',
    warning: 'Ninguém pedirá dados do seu cartão nem outro pagamento por causa deste e-mail.',
  },
};

import type { Words } from './locale.ts';

export const fr: Words = {
  languageName: 'Français',
  chooseLanguage: 'Langue',
  sandbox: {
    name: 'Environnement de test.',
    sentence: 'Ceci est un test\u00a0: aucune carte n’est débitée et aucun argent réel ne circule.',
  },
  title: '{heading} – {amount} à {shop}',
  summary: {
    paymentTo: 'Paiement à',
    parts: '{net} + {fee} de frais',
    fee: 'Frais de service',
    total: 'Total',
    until: 'Vous pouvez payer jusqu’au {time}.',
  },
  steps: {
    label: 'Progression',
    done: '(terminé)',
  },
  states: {
    choose: { heading: 'Comment souhaitez-vous payer\u00a0?' },
    single: {
      heading: 'Payer avec {provider}',
      sentence: 'Votre carte est débitée par {provider}.',
    },
    nobody: {
      heading: 'Ce paiement est impossible pour le moment',
      sentence:
        'Aucun service de paiement ne peut accepter ce paiement. Contactez {shop} ou réessayez plus tard.',
    },
    nobodyHere: {
      heading: 'Indisponible dans ce pays\u00a0: {country}',
      sentence:
        'Aucun service de paiement ne peut accepter ce paiement pour les clients de ce pays ({country}). ' +
        'Si vous habitez ailleurs, choisissez votre pays. Sinon, contactez {shop}.',
    },
    nobodyBelow:
      'Aucun service de paiement n’accepte ce montant. Le paiement est possible à partir de {minimum}. Contactez {shop}.',
    nobodyIn: 'Aucun service de paiement n’accepte {currency} pour ce paiement. Contactez {shop}.',
    singleCannot: '{provider} ne peut pas accepter ce paiement. Contactez {shop} ou réessayez plus tard.',
    going: {
      heading: 'Redirection vers {provider}',
      sentence: 'Cela prend quelques secondes. Votre carte n’a pas encore été débitée.',
    },
    waiting: {
      heading: 'En attente de votre paiement chez {provider}',
      sentence:
        'Vous avez déjà payé\u00a0? Vous n’avez rien à faire. Votre paiement apparaîtra ici, en général en quelques minutes.',
    },
    visitEnded: {
      heading: 'Votre session {provider} a expiré',
      sentence:
        'Si {provider} a débité votre carte, ne payez pas à nouveau\u00a0: le paiement peut prendre un moment et apparaîtra ici. Sinon, recommencez.',
    },
    taken: {
      heading: 'Votre carte est acceptée',
      sentence: 'Votre argent est en route vers {shop}.',
    },
    declined: {
      heading: 'Paiement refusé.\nVotre carte n’a pas été débitée.',
      sentence: '{provider} indique que votre paiement de {amount} n’a pas abouti.',
    },
    underpaid: {
      heading: 'Presque terminé : payez {missing} pour finir',
      sentence:
        'Une partie de votre paiement est arrivée. {missing} le complètent, frais du service compris.',
    },
    incomplete: {
      heading: 'Votre paiement est incomplet',
      sentence:
        'Une partie de votre paiement est arrivée ; il manque environ {missing}. Ne payez pas à nouveau le montant total.',
    },
    seen: {
      heading: 'Votre paiement a été reçu',
      sentence: 'Nous le transmettons à {shop}. Vous n’avez rien à faire.',
    },
    sending: {
      heading: 'Votre paiement est en cours de transmission à {shop}',
      sentence: 'Cela prend en général moins d’une minute.',
    },
    held: {
      heading: 'Votre paiement a été reçu, mais sa transmission prend du retard',
      sentence:
        'Votre paiement de {amount} n’a pas encore pu être transmis à {shop}. Votre argent est en sécurité et nous réessayons. ' +
        'Ne payez pas à nouveau. Si le retard persiste, contactez {shop} et indiquez la référence ci-dessous.',
    },
    paid: {
      heading: 'Paiement effectué',
      sentence: '{shop} a reçu votre paiement. Merci. Vous pouvez revenir à ce reçu à tout moment.',
    },
    canceled: {
      heading: 'Ce paiement a été annulé',
      sentence:
        'Aucun paiement n’a été reçu. Pour payer {amount}, recommencez chez {shop}. Si votre carte a été débitée, indiquez à {shop} la référence ci-dessous.',
    },
    expired: {
      heading: 'Ce paiement a expiré',
      sentence:
        'Aucun paiement n’a été reçu à temps. Pour payer {amount}, recommencez chez {shop}. ' +
        'Si votre carte a été débitée, indiquez à {shop} la référence ci-dessous.',
    },
    closedWithMoney: {
      heading: 'Votre paiement nécessite une vérification',
      sentence:
        'Environ {received} sur {amount} ont été reçus, trop tard ou partiellement. ' +
        'L’argent est conservé pour {shop}. Contactez {shop} et indiquez la référence ci-dessous. Ne payez pas à nouveau.',
    },
    closedAndReleased: {
      heading: '{shop} a reçu votre argent',
      sentence:
        'Environ {received} sur {amount} ont été reçus, trop tard ou partiellement\u00a0: ' +
        'ce paiement n’est donc pas considéré comme réglé. Contactez {shop} au sujet de votre commande et indiquez la référence ci-dessous.',
    },
    overpaid:
      'Environ {received} ont été reçus, soit {surplus} de trop. La totalité va à {shop}. ' +
      'Demandez à {shop} de rembourser la différence et indiquez la référence ci-dessous.',
    paidTwice:
      'Votre paiement a été reçu plus d’une fois\u00a0: environ {received} au total. La totalité va à {shop}. ' +
      'Demandez à {shop} de rembourser le paiement en double et indiquez la référence ci-dessous.',
    paidAgain:
      'Un autre paiement de votre part est en cours chez {holders}. Il va aussi à {shop}. ' +
      'Demandez à {shop} de le rembourser et indiquez la référence ci-dessous.',
    littleArrived: 'Un très petit montant a été reçu. Le montant total reste à payer.',
  },
  actions: {
    continueTo: 'Continuer vers {provider}',
    continueAt: 'Continuer chez {provider}',
    startAgainAt: 'Recommencer chez {provider}',
    tryAnotherCard: 'Essayer une autre carte chez {provider}',
    print: 'Imprimer ou enregistrer le reçu',
    tryAgain: 'Réessayer',
    backToCheckout: 'Retour au paiement',
  },
  offers: {
    payAt: 'Payer avec {provider}',
    pay: 'Payer {amount}',
    through: 'Via {provider}',
    change: 'Modifier',
    all: 'Les {count} services',
    payInstead: 'Payer plutôt avec {provider}',
    otherWays: 'Autres moyens de paiement ({count})',
    card: 'Carte bancaire',
    lastChoice: 'Votre dernier choix',
    country: 'Dans quel pays vivez-vous\u00a0?',
    countryReason: '{provider} doit connaître votre pays.',
    noneChosen: 'Sélectionnez',
    notForThis: 'Indisponibles pour ce paiement',
    onlyFrom: 'Seulement à partir de {minimum}',
    onlyFromThisIs: 'Seulement à partir de {minimum}\u00a0; ce paiement vaut environ {value}',
    onlyUpTo: 'Seulement jusqu’à {maximum}',
    onlyCurrency: 'Uniquement pour les paiements en {currency}',
    inactive: 'Indisponible pour le moment',
    silent: 'Temporairement indisponible',
    busy: 'Momentanément saturé',
    charges: 'Vous y payez {amount}, frais compris',
    accountNeeded: 'Nécessite un compte {provider}',
    usually: 'En général {time}',
    idNeeded: 'Pièce d’identité au premier achat',
  },
  problems: {
    noSuchProvider: 'Ce service de paiement n’existe pas. Choisissez-en un ci-dessous.',
    otherProvider: 'Ce paiement est prévu pour un autre service de paiement.',
    busy: '{provider} est saturé pour le moment. Votre carte n’a pas été débitée. Réessayez dans quelques secondes.',
    unreachable: '{provider} est injoignable. Votre carte n’a pas été débitée. Réessayez dans un instant.',
    orOther: 'Ou choisissez un autre moyen de paiement.',
    inactive: '{provider} est indisponible pour le moment. Votre carte n’a pas été débitée.',
    onlyCurrency: '{provider} n’accepte pas les paiements en {currency}.',
    unserved: '{provider} ne sert pas les clients de votre région.',
    belowMinimum: '{amount} est inférieur au montant minimum de {provider}.',
    aboveMaximum: '{amount} est supérieur au montant maximum de {provider}.',
    tooOften: '{provider} a été ouvert trop de fois depuis ce paiement. Réessayez dans une heure.',
    shopCannotReceive: '{shop} ne peut pas recevoir de paiements pour le moment. Contactez {shop}.',
    networkDown:
      'Le réseau de paiement est injoignable. Votre carte n’a pas été débitée. Réessayez dans un instant.',
    countryMissing: 'Choisissez votre pays\u00a0: {provider} a besoin de cette information.',
    chooseOther: 'Choisissez un autre moyen de paiement.',
    contactShop: 'Contactez {shop}.',
    notFromHere: 'Utilisez les boutons de cette page pour continuer.',
    other: 'Cela n’a pas fonctionné. Votre carte n’a pas été débitée. Réessayez dans un instant.',
  },
  wait: {
    elapsed: 'd’attente',
    approved: 'Votre paiement est accepté',
    usual: 'Durée habituelle\u00a0: {time}.',
    once: 'Ne payez pas à nouveau.',
    approvedBy: 'Accepté par {provider}',
    onItsWay: 'En route',
    sending: '{provider} l’envoie à l’adresse de ce paiement.',
    confirmed: 'Confirmé',
    withShop: 'Chez {shop}',
    now: 'en cours',
    close: 'Vous pouvez fermer cette page.',
    longer: 'C’est plus long que prévu\u00a0?',
  },
  receipt: {
    paidTo: 'payé à {shop}',
    for: 'Objet',
    price: 'Prix + frais',
    statement: 'Sans doute sur votre relevé',
    number: 'Reçu nº',
    proven: 'Prouvé sur {network}.',
    sent: 'Le contrat a envoyé {usdc} à {shop}.',
    sentWithin: 'Le contrat a envoyé {usdc} à {shop} moins de {time} après l’acceptation de votre carte.',
    transactions: 'Voir les deux transactions',
  },
  missing: {
    question: 'Votre carte a été débitée, mais rien n’apparaît ici\u00a0?',
    usual:
      'Le paiement arrive en général en quelques minutes. Si le service de paiement le vérifie, cela peut prendre une journée.',
    ask: 'Si l’attente se prolonge, contactez {provider}, qui conserve votre paiement jusqu’à sa transmission, et indiquez la référence ci-dessous.',
    support: 'Assistance {provider}',
  },
  rest: {
    heading: 'Comment payer le reste',
    askShop: 'Demandez à {shop} comment payer le reste et indiquez la référence ci-dessous.',
    fromWallet: 'Envoyer le reste depuis un portefeuille',
  },
  facts: {
    reference: 'Référence',
    copyReference: 'Copier la référence',
    referenceAt: 'Référence chez {provider}',
    amount: 'Montant',
    time: 'Date et heure',
    arrivedWith: 'Transaction reçue',
    sentWith: 'Transaction vers la boutique',
    newTab: '(s’ouvre dans un nouvel onglet)',
    details: 'Détails de la transaction',
  },
  assurances: {
    exact: 'Vous terminez chez {provider} et y payez exactement {amount}.',
    above: 'Vous terminez chez {provider} et y payez {amount}, frais compris.',
    statement: 'Votre relevé mentionnera sans doute {provider}.',
    money: 'L’argent ne peut parvenir qu’à {shop}, moins d’éventuels frais de service.',
    check: 'Vérifiez vous-même',
    email: 'Nous communiquons votre adresse e-mail, {email}, au service de paiement.',
    emailToSome:
      'Si le service de paiement accepte une adresse e-mail de notre part, nous lui communiquons la vôtre, {email}.',
    emailKept:
      'La boutique a joint une adresse e-mail à ce paiement, {email}. ' +
      'Votre lien ne la contient pas\u00a0: nous ne la communiquons donc pas au service de paiement.',
  },
  offline: 'Vous êtes hors ligne. Cette page reprendra automatiquement dès que la connexion sera rétablie.',
  messages: {
    unknownPage: {
      heading: 'Page introuvable',
      sentence:
        'Il n’y a rien à cette adresse. Pour payer, rouvrez le lien depuis la boutique ou le message qui le contenait.',
    },
    unknownLink: {
      heading: 'Paiement introuvable',
      sentence:
        'Le lien est peut-être incomplet. Ouvrez-le à nouveau depuis la boutique ou le message qui le contenait.',
    },
    tooManyRequests: {
      heading: 'Trop de requêtes depuis votre réseau',
      sentence:
        'Rien n’est perdu et votre carte n’a pas été débitée. Patientez une minute, puis rechargez la page.',
    },
    didNotWork: {
      heading: 'Cela n’a pas fonctionné',
      sentence: 'Revenez à la page de paiement et réessayez.',
    },
    ourFailure: {
      heading: 'Une erreur s’est produite de notre côté',
      sentence: 'Votre carte n’a pas été débitée. Réessayez dans un instant.',
    },
  },
  shortLink: {
    title: 'Payer {amount} à {shop}',
    description: 'Payez {shop} par carte.',
    continue: 'Continuer vers le paiement',
    see: 'Voir le paiement',
  },
  shop: {
    contact: 'Contacter {shop}',
    support: 'Des questions\u00a0? Contactez {shop}',
    terms: 'Conditions de vente de {shop}',
    back: 'Retour à {shop}',
    leadsTo: 'Ce lien mène à {host}.',
    automatic: 'Vous serez redirigé vers {host} dans {seconds} secondes.',
    stay: 'Rester sur cette page',
  },
  phone: {
    heading: 'Continuer sur votre téléphone',
    hint: 'Scannez ce code avec l’appareil photo de votre téléphone pour y ouvrir cette page de paiement.',
    code: 'Code QR de cette page de paiement',
  },
  direct: {
    heading: 'Envoyez {amount}',
    waiting:
      'En attente de votre transfert. Il est pris en compte dès qu’il est définitif sur le réseau, au bout de quelques secondes à une minute.',
    partly: '{received} ont été reçus. Voici le montant manquant.',
    network: 'Réseau',
    testNetwork: 'Réseau de test local, ID de chaîne {chain}',
    to: 'À',
    contract: 'Contrat USDC',
    code: 'Code QR du transfert, à scanner avec un portefeuille',
    codeWhole: 'Adresse et montant',
    codeAddress: 'Adresse seule',
    codeAddressHint: 'Pour les applications qui ne lisent pas l’autre code. Saisissez vous-même le montant.',
    openHint: 'Rien ne se passe ? Copiez le montant et l’adresse dans votre portefeuille.',
    networkMissing: 'Votre portefeuille n’affiche pas {network} ?',
    networkAdd: 'Ajoutez-le dans les paramètres réseau du portefeuille avec ces valeurs.',
    open: 'Ouvrir dans votre portefeuille',
    copy: 'Copier',
    payWith: 'Payer avec {wallet}',
    sent: 'Votre portefeuille a envoyé le transfert. En attente du réseau.',
    refused: 'Votre portefeuille n’a pas envoyé le transfert. Rien n’a été payé.',
    onlyThere:
      'Envoyez uniquement des USDC, et uniquement sur {network}. Tout autre envoi n’arrivera pas et pourrait être perdu.',
    whole: 'Envoyez le montant total. Les frais du réseau ou d’une plateforme d’échange s’y ajoutent.',
    once: 'N’utilisez cette adresse que pour ce paiement.',
  },
  page: {
    amount: 'Montant en {currency}',
    amountHint: 'De {minimum} à {maximum}',
    suggested: 'Montants suggérés',
    left: 'Disponibles : {count}',
    amountWrong: 'Saisissez un montant de {minimum} à {maximum}.',
    amountUnclear: 'Saisissez le montant avec deux décimales, par exemple {example}.',
    optional: '{question} (facultatif)',
    answerHint: 'Votre réponse n’est visible que par {shop}.',
    answerMissing: 'Répondez à cette question.',
    answerTooLong: '{count} caractères au maximum, sur une seule ligne.',
    feeAdded: 'Des frais s’ajoutent. La page suivante affiche le total avant le paiement.',
    pay: 'Continuer vers le paiement',
    busy: 'Trop de paiements sont en cours sur cette page. Rien n’a été débité. Réessayez dans quelques minutes.',
    paused: {
      heading: 'Cette page n’accepte pas de paiements pour le moment',
      sentence: 'Rien n’a été débité. Contactez {shop} ou réessayez plus tard.',
    },
    ended: { heading: 'Cette offre est terminée' },
    sold_out: { heading: 'Épuisé' },
    noMore: 'Cette page n’accepte plus de paiements. Pour toute question, contactez {shop}.',
    reserved: {
      heading: 'Épuisé pour le moment',
      sentence:
        'D’autres clients sont en train de payer les derniers articles. Ceux qui ne sont pas payés dans les {minutes} minutes redeviendront disponibles.',
    },
  },
  mail: {
    subject: 'Reçu de {shop}\u00a0: {amount}',
    paid: 'Vous avez payé {amount} à {shop}.',
    page: 'Ce reçu en ligne',
    questions: 'Questions sur votre commande',
    warning:
      'À la suite de cet e-mail, personne ne vous demandera vos données de carte ni un autre paiement.',
    tell: 'Nous vous écrirons par e-mail quand ce sera terminé.',
    told: 'C’est noté : nous vous écrirons par e-mail quand ce sera terminé.',
    own: 'Votre reçu arrive par e-mail.',
    address: 'Votre adresse e-mail',
    send: 'M’écrire',
    once: 'Pour ce seul e-mail, puis supprimée. {shop} ne la voit pas.',
    another: 'Utiliser une autre adresse',
    receipt: 'Recevoir ce reçu par e-mail',
    coming: 'Votre reçu est en route par e-mail.',
    wrong: 'Saisissez une adresse e-mail comme nom@example.com.',
    tooOften: 'Aucun autre e-mail ne peut être demandé ici pour le moment. Réessayez plus tard.',
    asked:
      'Vous recevez ce seul e-mail parce que votre adresse a été saisie sur la page de ce paiement. Elle est maintenant supprimée.',
  },
};

import type { Words } from './locale.ts';

export const fr: Words = {
  languageName: 'Français',
  chooseLanguage: 'Langue',
  sandbox: {
    name: 'Environnement de test.',
    sentence: 'Ceci est un test\u00a0: aucune carte n’est débitée et aucun argent réel ne circule.',
  },
  title: '{heading} – {amount} à {shop}',
  summary: { paymentTo: 'Paiement à', parts: '{net} + {fee} de frais' },
  steps: {
    label: 'Progression',
    choose: 'Choisir',
    pay: 'Payer',
    arrived: 'Reçu',
    sent: 'À la boutique',
    done: '(fait)',
  },
  states: {
    choose: {
      heading: 'Choisissez comment payer',
      sentence: 'Votre carte est débitée par le prestataire que vous choisissez.',
    },
    single: { heading: 'Payer avec {provider}', sentence: 'Votre carte est débitée par {provider}.' },
    nobody: {
      heading: 'Ce paiement est impossible pour le moment',
      sentence: 'Aucun prestataire ne peut accepter ce paiement. Contactez {shop} ou réessayez plus tard.',
    },
    nobodyBelow: {
      heading: 'Ce paiement est impossible pour le moment',
      sentence:
        'Aucun service de paiement n’accepte ce montant. Le paiement est possible à partir de {minimum}. Contactez {shop}.',
    },
    singleCannot: {
      heading: 'Ce paiement est impossible pour le moment',
      sentence: '{provider} ne peut pas accepter ce paiement. Contactez {shop} ou réessayez plus tard.',
    },
    going: {
      heading: 'Nous vous conduisons chez {provider}',
      sentence: 'Cela prend quelques secondes. Rien n’a encore été débité.',
    },
    waiting: {
      heading: 'En attente de votre paiement chez {provider}',
      sentence:
        'Vous avez déjà payé\u00a0? Vous n’avez plus rien à faire\u00a0: le paiement apparaîtra ici, en général en quelques minutes.',
    },
    visitEnded: {
      heading: 'Votre visite chez {provider} est terminée',
      sentence:
        'Si {provider} a débité votre carte, ne payez pas à nouveau\u00a0: la livraison peut prendre un moment et apparaîtra ici. Sinon, vous pouvez recommencer.',
    },
    taken: {
      heading: '{provider} a accepté votre paiement',
      sentence:
        '{provider} indique qu’il est en route vers {shop}. Il apparaîtra ici, en général en quelques minutes\u00a0; ne payez pas à nouveau.',
    },
    declined: {
      heading: '{provider} n’a pas accepté votre paiement',
      sentence: '{provider} indique qu’il n’a pas abouti. Vous pouvez réessayer.',
    },
    declinedOfSeveral: {
      heading: '{provider} n’a pas accepté votre paiement',
      sentence:
        '{provider} indique qu’il n’a pas abouti. Vous pouvez réessayer ou choisir un autre prestataire.',
    },
    underpaid: {
      heading: 'Le montant reçu est insuffisant',
      sentence: 'Reçu\u00a0: {received}. Il manque {missing}. Ne payez pas à nouveau le montant entier.',
    },
    seen: {
      heading: 'Votre paiement est arrivé',
      sentence: 'Il va être transmis à {shop}. Vous n’avez rien à faire.',
    },
    sending: {
      heading: 'Votre paiement est en cours d’envoi à {shop}',
      sentence: 'Cela prend en général moins d’une minute. Vous pouvez fermer cette page.',
    },
    held: {
      heading: 'Votre paiement est arrivé, mais il est retardé',
      sentence:
        'Il n’a pas encore pu être transmis à {shop}. Il est en sécurité et l’envoi est retenté\u00a0; ne payez pas une seconde fois. Si cela dure, contactez {shop} et indiquez la référence ci-dessous.',
    },
    paid: {
      heading: 'Payé',
      sentence: '{shop} a reçu votre paiement. Merci. Vous pouvez revenir à ce reçu à tout moment.',
    },
    canceled: {
      heading: 'Ce paiement a été annulé',
      sentence:
        'Rien n’était arrivé. Pour payer, recommencez chez {shop}. Si votre carte a malgré tout été débitée, indiquez à {shop} la référence ci-dessous.',
    },
    expired: {
      heading: 'Ce paiement a expiré',
      sentence:
        'Rien n’est arrivé à temps. Pour payer, recommencez chez {shop}. Si votre carte a malgré tout été débitée, indiquez à {shop} la référence ci-dessous.',
    },
    closedWithMoney: {
      heading: 'Votre paiement demande une intervention',
      sentence:
        'Quelque chose est arrivé après la clôture, ou ce n’était pas le montant entier. Contactez {shop} et indiquez la référence ci-dessous\u00a0; ne payez pas à nouveau.',
    },
    closedAndReleased: {
      heading: '{shop} a reçu ce que vous avez envoyé',
      sentence:
        'C’est arrivé trop tard ou ce n’était pas le montant entier\u00a0: le paiement n’est donc pas considéré comme réglé. Contactez {shop} et indiquez la référence ci-dessous.',
    },
    overpaid:
      'Le montant reçu dépasse celui de ce paiement. Si votre carte a été débitée deux fois, demandez un remboursement à {shop} et indiquez la référence ci-dessous.',
    littleArrived: 'Une petite somme est arrivée, très loin du prix\u00a0; le montant entier reste à payer.',
  },
  actions: {
    continueTo: 'Continuer vers {provider}',
    continueAt: 'Continuer chez {provider}',
    startAgainAt: 'Recommencer chez {provider}',
    chooseAnother: 'Choisir un autre prestataire',
    checkAgain: 'Vérifier à nouveau',
    print: 'Imprimer ou enregistrer le reçu',
    backToCheckout: 'Retour au paiement',
  },
  offers: {
    payAt: 'Payer avec {provider}',
    minimum: 'min. {amount}',
    delivers: '{amount} arrivent',
    best: 'Meilleure offre',
    lastChoice: 'Votre dernier choix',
    country: 'Pays où vous vivez',
    countryHint: '{provider} le demande.',
    noneChosen: 'Choisissez',
    notForThis: 'Indisponibles pour ce paiement',
    onlyFrom: 'À partir de {minimum} seulement',
    onlyFromThisIs: 'À partir de {minimum} seulement\u00a0; ceci vaut environ {value}',
    onlyUpTo: 'Jusqu’à {maximum} seulement',
    onlyCurrency: 'Uniquement pour les paiements en {currency}',
    inactive: 'Indisponible pour le moment',
    silent: 'Ne répond pas pour le moment',
    busy: 'Occupé pour le moment',
    accountNeeded: 'Nécessite un compte {provider}',
  },
  problems: {
    noSuchProvider: 'Ce prestataire n’existe pas. Choisissez-en un ci-dessous.',
    otherProvider: 'Ce paiement est prévu pour un autre prestataire.',
    busy: '{provider} est momentanément occupé. Votre carte n’a pas été débitée. Réessayez dans quelques secondes.',
    busyOfSeveral:
      '{provider} est momentanément occupé. Votre carte n’a pas été débitée. Réessayez dans quelques secondes ou choisissez un autre prestataire.',
    unreachable: '{provider} est injoignable. Votre carte n’a pas été débitée. Réessayez dans un instant.',
    unreachableOfSeveral:
      '{provider} est injoignable. Votre carte n’a pas été débitée. Réessayez dans un instant ou choisissez un autre prestataire.',
    inactive: '{provider} est indisponible pour le moment. Votre carte n’a pas été débitée.',
    onlyCurrency: '{provider} n’accepte pas les paiements en {currency}.',
    belowMinimum: '{amount} est inférieur à ce que {provider} accepte.',
    aboveMaximum: '{amount} est supérieur à ce que {provider} accepte.',
    tooOften: '{provider} a été ouvert trop souvent depuis ce paiement. Réessayez dans une heure.',
    shopCannotReceive: '{shop} ne peut pas recevoir de paiements pour le moment. Contactez {shop}.',
    networkDown:
      'Le réseau de paiement est injoignable. Votre carte n’a pas été débitée. Réessayez sous peu.',
    countryMissing: 'Choisissez votre pays\u00a0: {provider} le demande.',
    notFromHere: 'Utilisez les boutons de cette page pour continuer.',
    other: 'Cela n’a pas fonctionné. Votre carte n’a pas été débitée. Réessayez dans un instant.',
  },
  missing: {
    question: 'Débité, mais rien n’apparaît ici\u00a0?',
    usual:
      'La livraison prend en général quelques minutes\u00a0; si le prestataire vérifie un paiement, elle peut prendre un jour.',
    ask: 'Si cela dure plus longtemps, demandez à {provider}, qui détient votre paiement jusqu’à sa livraison. Indiquez la référence ci-dessous.',
    support: 'Assistance de {provider}',
  },
  rest: {
    heading: 'Comment compléter',
    askShop: 'Demandez à {shop} comment payer le reste et indiquez la référence ci-dessous.',
    fromWallet: 'Envoyer le reste depuis un portefeuille',
    howTo:
      'Envoyez {missing} sur le réseau Polygon à cette adresse. Seul l’USDC sur Polygon compte\u00a0; il s’ajoute à ce qui est arrivé et cette page se met à jour d’elle-même.',
    address: 'Adresse sur Polygon',
  },
  facts: {
    reference: 'Référence',
    referenceAt: 'Référence chez {provider}',
    paidTo: 'Payé à',
    amount: 'Montant',
    madeUpOf: 'Composé de',
    chargedBy: 'Carte débitée par',
    time: 'Date et heure',
    arrivedWith: 'Arrivé avec la transaction',
    sentWith: 'Envoyé à la boutique avec la transaction',
    newTab: '(s’ouvre dans un nouvel onglet)',
  },
  assurances: {
    card: 'Vous saisissez votre carte chez le prestataire, jamais sur cette page. Votre relevé mentionnera sans doute son nom, et non celui de la boutique.',
    price:
      'Le prestataire affiche ce qu’il facture, ses propres frais compris, avant que vous confirmiez. Il peut vous demander qui vous êtes.',
    delivery: 'Il livre le paiement à {shop} en USDC (dollars numériques).',
    email: 'Nous communiquons votre adresse e-mail, {email}, au prestataire.',
    emailKept:
      'La boutique a joint une adresse e-mail à ce paiement, {email}. Votre lien ne la contient pas\u00a0: le prestataire ne la reçoit donc pas.',
  },
  offline: 'Pas de connexion pour le moment. Cette page reprendra d’elle-même dès son retour.',
  messages: {
    unknownLink: {
      heading: 'Il n’y a pas de paiement ici',
      sentence:
        'Le lien est peut-être incomplet. Ouvrez-le à nouveau depuis la boutique ou le message qui le contenait.',
    },
    tooManyRequests: {
      heading: 'Trop de requêtes depuis votre réseau',
      sentence: 'Rien n’est perdu et rien n’a été débité. Attendez une minute et rechargez la page.',
    },
    onlyByButton: {
      heading: 'Commencez depuis la page de paiement',
      sentence: 'Cette adresse ne fonctionne qu’avec le bouton de la page de paiement.',
    },
    didNotWork: {
      heading: 'Cela n’a pas fonctionné',
      sentence: 'Revenez à la page de paiement et réessayez.',
    },
    ourFailure: {
      heading: 'Une erreur s’est produite de notre côté',
      sentence: 'Votre carte n’a pas été débitée pour autant. Réessayez dans un instant.',
    },
  },
  shortLink: {
    title: 'Payer {amount} à {shop}',
    description: 'Payez {shop} par carte.',
    continue: 'Continuer vers le paiement',
    see: 'Voir le paiement',
  },
  shop: {
    support: 'Des questions ? Contactez {shop}',
    back: 'Retour à {shop}',
  },
  phone: {
    heading: 'Continuer sur votre téléphone',
    hint: 'Scannez ce code avec l’appareil photo de votre téléphone pour y ouvrir cette page de paiement.',
    code: 'Code QR de cette page de paiement',
  },
  direct: {
    heading: 'Envoyez {amount}',
    waiting:
      'En attente de votre transfert. Il compte dès que le réseau ne peut plus l’annuler, de quelques secondes à une minute plus tard.',
    partly: '{received} sont arrivés ; voici ce qui manque.',
    network: 'Réseau',
    testNetwork: 'Réseau de test local, chaîne {chain}',
    to: 'À',
    contract: 'Contrat de l’USDC',
    code: 'Code QR du transfert, pour un portefeuille qui le scanne',
    open: 'Ouvrir dans votre portefeuille',
    onlyThere:
      'Uniquement des USDC, et uniquement sur {network} : sur un autre réseau, ou avec un autre jeton, rien n’arrive.',
    whole: 'Envoyez le montant entier : les frais du réseau ou d’une plateforme d’échange s’y ajoutent.',
    once: 'L’adresse ne sert qu’à ce paiement. Ne la réutilisez pas.',
  },
  mail: {
    subject: 'Reçu de {shop} : {amount}',
    paid: 'Vous avez payé {amount} à {shop}.',
    page: 'Ce reçu en page web',
    questions: 'Questions sur votre commande',
    warning: 'Personne ne vous demandera de données de carte ni un autre paiement à cause de cet e-mail.',
  },
};

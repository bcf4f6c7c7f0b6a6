import type { LanguageCode } from '../../web/checkout-layout/languages.ts';

const en = {
  awaiting_address: {
    heading: '{shop} refunds you {amount}',
    sentence:
      'You receive the refund as USDC (digital dollars) on the Polygon network. ' +
      'Enter the address of your own wallet, or the address where your exchange accepts USDC on Polygon.',
  },
  address: 'Your address on Polygon',
  hint: 'It begins with 0x and has 42 characters. Copy it instead of typing it.',
  wrong: 'This address cannot be used. Copy it again from your wallet or exchange.',
  send: 'Send this address',
  once: 'You can send an address only once. {shop} checks it with you before the transfer.',
  notYours: 'If this is not your address, contact {shop} right away.',
  warning:
    'This page asks only for an address: never for a card, a password, a recovery phrase or a payment. If you do not expect a refund from {shop}, close it.',
  awaiting_confirmation: {
    heading: '{shop} has your address',
    sentence: '{shop} checks it with you and then transfers {amount}.',
  },
  awaiting_transfer: {
    heading: '{shop} is about to transfer your refund',
    sentence: 'The address is confirmed. {shop} transfers {amount} to it.',
  },
  paid: { heading: 'Your refund has been transferred', sentence: '{shop} transferred it to your address.' },
  expired: {
    heading: 'This link is no longer valid',
    sentence: 'Ask {shop} for a new link if you still expect a refund.',
  },
};

export const refundWords: Readonly<Record<LanguageCode, typeof en>> = {
  en,
  es: {
    awaiting_address: {
      heading: '{shop} le reembolsa {amount}',
      sentence:
        'Recibirá el reembolso en USDC (dólares digitales) por la red Polygon. ' +
        'Indique la dirección de su propia cartera o la dirección en la que su plataforma de intercambio acepta USDC en Polygon.',
    },
    address: 'Su dirección en Polygon',
    hint: 'Empieza por 0x y tiene 42 caracteres. Cópiela en lugar de escribirla.',
    wrong: 'Esta dirección no se puede usar. Cópiela de nuevo de su cartera o plataforma de intercambio.',
    send: 'Enviar esta dirección',
    once: 'Solo puede indicar una dirección una vez. {shop} la comprobará con usted antes de la transferencia.',
    notYours: 'Si esta dirección no es suya, póngase en contacto con {shop} de inmediato.',
    warning:
      'Esta página solo pide una dirección: nunca una tarjeta, una contraseña, una frase de recuperación ni un pago. ' +
      'Si no espera un reembolso de {shop}, ciérrela.',
    awaiting_confirmation: {
      heading: '{shop} ha recibido su dirección',
      sentence: '{shop} la comprobará con usted y después transferirá {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} va a transferir su reembolso',
      sentence: 'La dirección está confirmada. {shop} transferirá {amount} a esa dirección.',
    },
    paid: { heading: 'Su reembolso se ha transferido', sentence: '{shop} lo ha transferido a su dirección.' },
    expired: {
      heading: 'Este enlace ya no es válido',
      sentence: 'Pida un enlace nuevo a {shop} si todavía espera un reembolso.',
    },
  },
  fr: {
    awaiting_address: {
      heading: '{shop} vous rembourse {amount}',
      sentence:
        'Vous recevrez le remboursement en USDC (dollars numériques) sur le réseau Polygon. ' +
        'Indiquez l’adresse de votre propre portefeuille, ou l’adresse à laquelle votre plateforme d’échange accepte des USDC sur Polygon.',
    },
    address: 'Votre adresse sur Polygon',
    hint: 'Elle commence par 0x et compte 42 caractères. Copiez-la au lieu de la saisir.',
    wrong:
      'Cette adresse ne peut pas être utilisée. Copiez-la de nouveau depuis votre portefeuille ou votre plateforme.',
    send: 'Envoyer cette adresse',
    once: 'Vous ne pouvez indiquer une adresse qu’une seule fois. {shop} la vérifiera avec vous avant le transfert.',
    notYours: 'Si cette adresse n’est pas la vôtre, contactez {shop} immédiatement.',
    warning:
      'Cette page ne demande qu’une adresse\u00a0: jamais de carte, de mot de passe, de phrase de récupération ni de paiement. ' +
      'Si vous n’attendez pas de remboursement de {shop}, fermez-la.',
    awaiting_confirmation: {
      heading: '{shop} a reçu votre adresse',
      sentence: '{shop} la vérifiera avec vous, puis transférera {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} va transférer votre remboursement',
      sentence: 'L’adresse est confirmée. {shop} transférera {amount} à cette adresse.',
    },
    paid: {
      heading: 'Votre remboursement a été transféré',
      sentence: '{shop} l’a transféré à votre adresse.',
    },
    expired: {
      heading: 'Ce lien n’est plus valable',
      sentence: 'Demandez un nouveau lien à {shop} si vous attendez toujours un remboursement.',
    },
  },
  de: {
    awaiting_address: {
      heading: '{shop} erstattet Ihnen {amount}',
      sentence:
        'Sie erhalten die Erstattung als USDC (digitale Dollar) im Polygon-Netzwerk. ' +
        'Geben Sie die Adresse Ihrer eigenen Wallet an oder die Adresse, unter der Ihre Börse USDC auf Polygon annimmt.',
    },
    address: 'Ihre Adresse auf Polygon',
    hint: 'Sie beginnt mit 0x und hat 42 Zeichen. Bitte kopieren statt abtippen.',
    wrong:
      'Diese Adresse kann nicht verwendet werden. Kopieren Sie sie erneut aus Ihrer Wallet oder von Ihrer Börse.',
    send: 'Diese Adresse senden',
    once: 'Sie können nur einmal eine Adresse angeben. {shop} gleicht sie mit Ihnen ab, bevor die Erstattung gesendet wird.',
    notYours: 'Wenn dies nicht Ihre Adresse ist, wenden Sie sich sofort an {shop}.',
    warning:
      'Diese Seite fragt nur nach einer Adresse: nie nach einer Karte, einem Passwort, einer Wiederherstellungsphrase oder einer Zahlung. ' +
      'Wenn Sie keine Erstattung von {shop} erwarten, schließen Sie die Seite.',
    awaiting_confirmation: {
      heading: 'Ihre Adresse liegt {shop} vor',
      sentence: '{shop} gleicht sie mit Ihnen ab und sendet dann {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} sendet Ihre Erstattung in Kürze',
      sentence: 'Die Adresse ist bestätigt. {shop} sendet {amount} an diese Adresse.',
    },
    paid: {
      heading: 'Ihre Erstattung wurde gesendet',
      sentence: '{shop} hat sie an Ihre Adresse gesendet.',
    },
    expired: {
      heading: 'Dieser Link ist nicht mehr gültig',
      sentence: 'Bitten Sie {shop} um einen neuen Link, wenn Sie noch eine Erstattung erwarten.',
    },
  },
  it: {
    awaiting_address: {
      heading: '{shop} ti rimborsa {amount}',
      sentence:
        'Riceverai il rimborso in USDC (dollari digitali) sulla rete Polygon. ' +
        'Indica l’indirizzo del tuo wallet, oppure l’indirizzo su cui il tuo exchange accetta USDC su Polygon.',
    },
    address: 'Il tuo indirizzo su Polygon',
    hint: 'Inizia con 0x e ha 42 caratteri. Copialo invece di digitarlo.',
    wrong: 'Questo indirizzo non può essere usato. Copialo di nuovo dal tuo wallet o dal tuo exchange.',
    send: 'Invia questo indirizzo',
    once: 'Puoi indicare un indirizzo una sola volta. {shop} lo verificherà con te prima del trasferimento.',
    notYours: 'Se questo non è il tuo indirizzo, contatta subito {shop}.',
    warning:
      'Questa pagina chiede solo un indirizzo: mai una carta, una password, una frase di recupero o un pagamento. ' +
      'Se non aspetti un rimborso da {shop}, chiudila.',
    awaiting_confirmation: {
      heading: '{shop} ha ricevuto il tuo indirizzo',
      sentence: '{shop} lo verificherà con te e poi trasferirà {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} sta per trasferire il tuo rimborso',
      sentence: 'L’indirizzo è confermato. {shop} trasferirà {amount} a questo indirizzo.',
    },
    paid: {
      heading: 'Il tuo rimborso è stato trasferito',
      sentence: '{shop} lo ha trasferito al tuo indirizzo.',
    },
    expired: {
      heading: 'Questo link non è più valido',
      sentence: 'Chiedi a {shop} un nuovo link se aspetti ancora un rimborso.',
    },
  },
  nl: {
    awaiting_address: {
      heading: '{shop} betaalt je {amount} terug',
      sentence:
        'Je ontvangt de terugbetaling als USDC (digitale dollars) op het Polygon-netwerk. ' +
        'Geef het adres van je eigen wallet op, of het adres waarop je exchange USDC op Polygon accepteert.',
    },
    address: 'Je adres op Polygon',
    hint: 'Het begint met 0x en heeft 42 tekens. Kopieer het in plaats van het over te typen.',
    wrong: 'Dit adres kan niet worden gebruikt. Kopieer het opnieuw uit je wallet of van je exchange.',
    send: 'Dit adres versturen',
    once: 'Je kunt maar één keer een adres opgeven. {shop} controleert het met je voordat de terugbetaling wordt verstuurd.',
    notYours: 'Is dit niet jouw adres? Neem dan meteen contact op met {shop}.',
    warning:
      'Deze pagina vraagt alleen om een adres: nooit om een kaart, een wachtwoord, een herstelzin of een betaling. ' +
      'Sluit de pagina als je geen terugbetaling van {shop} verwacht.',
    awaiting_confirmation: {
      heading: '{shop} heeft je adres ontvangen',
      sentence: '{shop} controleert het met je en stuurt daarna {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} stuurt je terugbetaling binnenkort',
      sentence: 'Het adres is bevestigd. {shop} stuurt {amount} naar dit adres.',
    },
    paid: {
      heading: 'Je terugbetaling is verstuurd',
      sentence: '{shop} heeft die naar je adres gestuurd.',
    },
    expired: {
      heading: 'Deze link is niet meer geldig',
      sentence: 'Vraag {shop} om een nieuwe link als je nog een terugbetaling verwacht.',
    },
  },
  pt: {
    awaiting_address: {
      heading: '{shop} vai reembolsar {amount} a você',
      sentence:
        'Você receberá o reembolso em USDC (dólares digitais) na rede Polygon. ' +
        'Informe o endereço da sua própria carteira ou o endereço em que a sua corretora aceita USDC na Polygon.',
    },
    address: 'Seu endereço na Polygon',
    hint: 'Começa com 0x e tem 42 caracteres. Copie-o em vez de digitá-lo.',
    wrong: 'Este endereço não pode ser usado. Copie-o novamente da sua carteira ou corretora.',
    send: 'Enviar este endereço',
    once: 'Você só pode informar um endereço uma vez. {shop} vai conferi-lo com você antes da transferência.',
    notYours: 'Se este endereço não for seu, fale com {shop} imediatamente.',
    warning:
      'Esta página pede apenas um endereço: nunca um cartão, uma senha, uma frase de recuperação ou um pagamento. ' +
      'Se você não espera um reembolso de {shop}, feche-a.',
    awaiting_confirmation: {
      heading: '{shop} recebeu o seu endereço',
      sentence: '{shop} vai conferi-lo com você e depois transferir {amount}.',
    },
    awaiting_transfer: {
      heading: '{shop} vai transferir o seu reembolso',
      sentence: 'O endereço está confirmado. {shop} vai transferir {amount} para ele.',
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
  ja: {
    awaiting_address: {
      heading: '{shop}から{amount}が返金されます',
      sentence:
        '返金はPolygonネットワーク上のUSDC（デジタルドル）で行われます。ご自身のウォレットのアドレス、または取引所がPolygonのUSDCを受け付けるアドレスを入力してください。',
    },
    address: 'Polygonのアドレス',
    hint: '0xで始まる42文字です。手で入力せず、コピーしてください。',
    wrong: 'このアドレスは使用できません。ウォレットまたは取引所からもう一度コピーしてください。',
    send: 'このアドレスを送信',
    once: 'アドレスを送信できるのは1回だけです。送金の前に、{shop}がお客様に確認します。',
    notYours: 'これがお客様のアドレスでない場合は、すぐに{shop}へご連絡ください。',
    warning:
      'このページが尋ねるのはアドレスだけです。カード、パスワード、リカバリーフレーズ、支払いを求めることはありません。{shop}からの返金に心当たりがない場合は、このページを閉じてください。',
    awaiting_confirmation: {
      heading: '{shop}がアドレスを受け取りました',
      sentence: '{shop}がお客様に確認したうえで、{amount}を送金します。',
    },
    awaiting_transfer: {
      heading: 'まもなく{shop}から返金されます',
      sentence: 'アドレスは確認済みです。{shop}がこのアドレスに{amount}を送金します。',
    },
    paid: {
      heading: '返金されました',
      sentence: '{shop}がお客様のアドレスに送金しました。',
    },
    expired: {
      heading: 'このリンクは無効になりました',
      sentence: 'まだ返金をお待ちの場合は、{shop}に新しいリンクをご依頼ください。',
    },
  },
  hi: {
    awaiting_address: {
      heading: '{shop} आपको {amount} का रिफ़ंड दे रहा है',
      sentence:
        'आपको रिफ़ंड Polygon नेटवर्क पर USDC (डिजिटल डॉलर) के रूप में मिलेगा। अपने वॉलेट का पता दें, ' +
        'या वह पता दें जिस पर आपका एक्सचेंज Polygon पर USDC स्वीकार करता है।',
    },
    address: 'Polygon पर आपका पता',
    hint: 'यह 0x से शुरू होता है और इसमें 42 अक्षर होते हैं। टाइप करने के बजाय इसे कॉपी करें।',
    wrong: 'इस पते का उपयोग नहीं हो सकता। इसे अपने वॉलेट या एक्सचेंज से फिर से कॉपी करें।',
    send: 'यह पता भेजें',
    once: 'आप पता केवल एक बार दे सकते हैं। ट्रांसफ़र से पहले {shop} आपसे इसकी पुष्टि करेगा।',
    notYours: 'अगर यह आपका पता नहीं है, तो तुरंत {shop} से संपर्क करें।',
    warning:
      'यह पेज केवल एक पता माँगता है: कभी कार्ड, पासवर्ड, रिकवरी फ़्रेज़ या भुगतान नहीं। अगर आप {shop} से रिफ़ंड की उम्मीद नहीं कर रहे, तो इसे बंद कर दें।',
    awaiting_confirmation: {
      heading: 'आपका पता {shop} को मिल गया है',
      sentence: '{shop} आपसे इसकी पुष्टि करेगा और फिर {amount} ट्रांसफ़र करेगा।',
    },
    awaiting_transfer: {
      heading: '{shop} जल्द ही आपका रिफ़ंड ट्रांसफ़र करेगा',
      sentence: 'पते की पुष्टि हो गई है। {shop} उस पर {amount} ट्रांसफ़र करेगा।',
    },
    paid: { heading: 'आपका रिफ़ंड ट्रांसफ़र हो गया है', sentence: '{shop} ने इसे आपके पते पर ट्रांसफ़र किया है।' },
    expired: {
      heading: 'यह लिंक अब मान्य नहीं है',
      sentence: 'अगर आपको अब भी रिफ़ंड की उम्मीद है, तो {shop} से नया लिंक माँगें।',
    },
  },
  ar: {
    awaiting_address: {
      heading: 'يرد {shop} إليك مبلغ {amount}',
      sentence:
        'ستستلم المبلغ المسترد بعملة USDC (دولارات رقمية) على شبكة Polygon. ' +
        'أدخل عنوان محفظتك الخاصة، أو العنوان الذي تقبل عليه منصة التداول لديك عملة USDC على شبكة Polygon.',
    },
    address: 'عنوانك على Polygon',
    hint: 'يبدأ بـ 0x ويتكون من 42 حرفًا. انسخه بدلًا من كتابته.',
    wrong: 'لا يمكن استخدام هذا العنوان. انسخه مرة أخرى من محفظتك أو من منصة التداول.',
    send: 'إرسال هذا العنوان',
    once: 'يمكنك إدخال عنوان مرة واحدة فقط. سيتحقق {shop} منه معك قبل التحويل.',
    notYours: 'إذا لم يكن هذا عنوانك، فتواصل مع {shop} فورًا.',
    warning:
      'تطلب هذه الصفحة عنوانًا فقط: ولا تطلب أبدًا بطاقة أو كلمة مرور أو عبارة استرداد أو دفعة. إذا كنت لا تتوقع استردادًا من {shop} فأغلقها.',
    awaiting_confirmation: {
      heading: 'وصل عنوانك إلى {shop}',
      sentence: 'سيتحقق {shop} منه معك ثم يحوّل {amount}.',
    },
    awaiting_transfer: {
      heading: 'سيحوّل {shop} المبلغ المسترد قريبًا',
      sentence: 'تم تأكيد العنوان. سيحوّل {shop} إليه مبلغ {amount}.',
    },
    paid: { heading: 'تم تحويل المبلغ المسترد', sentence: 'حوّله {shop} إلى عنوانك.' },
    expired: {
      heading: 'لم يعد هذا الرابط صالحًا',
      sentence: 'اطلب رابطًا جديدًا من {shop} إذا كنت لا تزال تتوقع استردادًا.',
    },
  },
};

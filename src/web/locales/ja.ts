import type { Words } from './locale.ts';

export const ja: Words = {
  languageName: '日本語',
  chooseLanguage: '言語',
  sandbox: {
    name: 'テスト環境。',
    sentence: 'これはテストです。カードへの請求も実際の送金も行われません。',
  },
  title: '{heading} – {shop}へ{amount}',
  summary: {
    paymentTo: 'お支払い先',
    parts: '{net} + 手数料{fee}',
    fee: 'サービス手数料',
    total: '合計',
    until: 'お支払い期限：{time}',
  },
  steps: {
    label: '進行状況',
    done: '（完了）',
  },
  states: {
    choose: { heading: 'お支払い方法をお選びください' },
    single: {
      heading: '{provider}で支払う',
      sentence: 'カードへの請求は{provider}が行います。',
    },
    nobody: {
      heading: '現在お支払いいただけません',
      sentence:
        'このお支払いに対応できる決済サービスがありません。{shop}にご連絡いただくか、後ほど再度お試しください。',
    },
    nobodyHere: {
      heading: '{country}ではご利用いただけません',
      sentence:
        '{country}のお客様のお支払いを受け付けられる決済サービスがありません。別の国にお住まいの場合は、国を選択してください。それ以外の場合は{shop}にご連絡ください。',
    },
    nobodyBelow:
      'この金額に対応できる決済サービスがありません。お支払いは{minimum}から可能です。{shop}にご連絡ください。',
    nobodyIn: '{currency}でのこのお支払いに対応できる決済サービスがありません。{shop}にご連絡ください。',
    singleCannot:
      '{provider}はこのお支払いに対応できません。{shop}にご連絡いただくか、後ほど再度お試しください。',
    going: {
      heading: '{provider}に移動しています',
      sentence: '数秒かかります。まだ請求は行われていません。',
    },
    waiting: {
      heading: '{provider}でのお支払いを待っています',
      sentence: 'お支払い済みの場合、操作は不要です。通常は数分以内にこのページに表示されます。',
    },
    visitEnded: {
      heading: '{provider}のセッションの有効期限が切れました',
      sentence:
        '{provider}からカードに請求があった場合は、再度のお支払いは行わないでください。反映まで時間がかかることがありますが、このページに表示されます。請求がない場合は、最初からやり直してください。',
    },
    taken: {
      heading: 'カードが承認されました',
      sentence: '代金を{shop}に送金中です。',
    },
    declined: {
      heading: 'お支払いが承認されませんでした。\n請求は行われていません。',
      sentence: '{provider}によると、{amount}のお支払いは完了しませんでした。',
    },
    underpaid: {
      heading: 'あと{missing}で完了します',
      sentence: 'お支払いの一部を受け取りました。{missing}で完了します（サービスの手数料を含みます）。',
    },
    incomplete: {
      heading: 'お支払いが不足しています',
      sentence:
        'お支払いの一部を受け取りました。約{missing}が不足しています。全額をもう一度お支払いにならないでください。',
    },
    seen: {
      heading: '入金を確認しました',
      sentence: '{shop}に送金しています。操作は不要です。',
    },
    sending: {
      heading: 'お支払いを{shop}に送金しています',
      sentence: '通常は1分もかかりません。',
    },
    held: {
      heading: '入金を確認しましたが、処理が遅れています',
      sentence:
        '{amount}をまだ{shop}に送金できていません。代金は安全に保管されており、送金を再試行しています。再度のお支払いは行わないでください。遅れが続く場合は、{shop}に下記の参照番号をお知らせください。',
    },
    paid: {
      heading: 'お支払い完了',
      sentence:
        '{shop}がお支払いを受け取りました。ありがとうございます。この領収書はいつでもご覧いただけます。',
    },
    canceled: {
      heading: 'このお支払いはキャンセルされました',
      sentence:
        '入金はありませんでした。{amount}を支払うには、{shop}で最初からやり直してください。カードに請求があった場合は、{shop}に下記の参照番号をお知らせください。',
    },
    expired: {
      heading: 'このお支払いの期限が切れました',
      sentence:
        '期限までに入金がありませんでした。{amount}を支払うには、{shop}で最初からやり直してください。カードに請求があった場合は、{shop}に下記の参照番号をお知らせください。',
    },
    closedWithMoney: {
      heading: 'お支払いについて確認が必要です',
      sentence:
        '{amount}のうち約{received}の入金がありましたが、期限後の入金か、一部のみの入金でした。代金は{shop}のために保管されています。{shop}に連絡し、下記の参照番号をお知らせください。再度のお支払いは行わないでください。',
    },
    closedAndReleased: {
      heading: '{shop}が代金を受け取りました',
      sentence:
        '{amount}のうち約{received}の入金がありましたが、期限後または一部のみの入金のため、支払い済みにはなっていません。ご注文について{shop}に連絡し、下記の参照番号をお知らせください。',
    },
    overpaid:
      '約{received}の入金があり、{surplus}の過払いとなっています。全額が{shop}に届きます。差額の返金を{shop}に依頼し、下記の参照番号をお知らせください。',
    paidTwice:
      'お支払いが重複しています（合計約{received}）。全額が{shop}に届きます。重複分の返金を{shop}に依頼し、下記の参照番号をお知らせください。',
    paidAgain:
      'もう1件のお支払いが{holders}で処理中です。こちらも{shop}に届きます。返金を{shop}に依頼し、下記の参照番号をお知らせください。',
    littleArrived: 'ごくわずかな金額の入金がありました。全額のお支払いがまだ必要です。',
  },
  actions: {
    continueTo: '{provider}に進む',
    continueAt: '{provider}で続ける',
    startAgainAt: '{provider}でやり直す',
    tryAnotherCard: '{provider}で別のカードを試す',
    print: '領収書を印刷または保存',
    tryAgain: 'もう一度試す',
    backToCheckout: 'お支払いページに戻る',
  },
  offers: {
    payAt: '{provider}で支払う',
    pay: '{amount}を支払う',
    through: '{provider}経由',
    change: '変更',
    all: '全{count}サービス',
    payInstead: '代わりに{provider}で支払う',
    otherWays: 'その他のお支払い方法（{count}）',
    card: 'カード',
    lastChoice: '前回の選択',
    country: 'お住まいの国',
    countryReason: '{provider}ではお住まいの国の確認が必要です。',
    noneChosen: '選択してください',
    notForThis: 'このお支払いでは利用できません',
    onlyFrom: '{minimum}以上で利用可能',
    onlyFromThisIs: '{minimum}以上で利用可能（今回は約{value}）',
    onlyUpTo: '{maximum}以下で利用可能',
    onlyCurrency: '{currency}でのお支払いのみ',
    inactive: '現在利用できません',
    silent: '一時的に利用できません',
    busy: '現在混み合っています',
    charges: '手数料込みで{amount}のお支払いになります',
    accountNeeded: '{provider}のアカウントが必要',
    usually: '通常{time}',
    idNeeded: '初回は本人確認が必要',
  },
  problems: {
    noSuchProvider: 'この決済サービスは存在しません。下から選択してください。',
    otherProvider: 'このお支払いは別の決済サービス用です。',
    busy: '{provider}は現在混み合っています。カードへの請求は行われていません。数秒後に再度お試しください。',
    unreachable:
      '{provider}に接続できませんでした。カードへの請求は行われていません。しばらくしてから再度お試しください。',
    orOther: '別の方法もお選びいただけます。',
    inactive: '{provider}は現在利用できません。カードへの請求は行われていません。',
    onlyCurrency: '{provider}は{currency}でのお支払いに対応していません。',
    unserved: '{provider}はお客様の地域ではご利用いただけません。',
    belowMinimum: '{amount}は{provider}の下限金額を下回っています。',
    aboveMaximum: '{amount}は{provider}の上限金額を超えています。',
    tooOften: 'このお支払いから{provider}を開いた回数が多すぎます。1時間後に再度お試しください。',
    shopCannotReceive: '{shop}は現在お支払いを受け取れません。{shop}にご連絡ください。',
    networkDown:
      '決済ネットワークに接続できません。カードへの請求は行われていません。しばらくしてから再度お試しください。',
    countryMissing: '国を選択してください。{provider}の利用に必要です。',
    chooseOther: '別の方法をお選びください。',
    contactShop: '{shop}にご連絡ください。',
    notFromHere: '続けるには、このページのボタンを使用してください。',
    other: '処理できませんでした。カードへの請求は行われていません。しばらくしてから再度お試しください。',
  },
  wait: {
    elapsed: '経過',
    approved: 'お支払いが承認されました',
    usual: '通常は{time}で完了します。',
    once: '再度のお支払いは行わないでください。',
    approvedBy: '{provider}が承認',
    onItsWay: '送金中',
    sending: '{provider}がこのお支払い専用のアドレスに送金しています。',
    confirmed: '入金確認',
    withShop: '{shop}に到着',
    now: '進行中',
    close: 'このページを閉じてもかまいません。',
    longer: '時間がかかっていますか？',
  },
  receipt: {
    paidTo: '{shop}に支払い済み',
    for: '内容',
    price: '価格＋手数料',
    statement: 'ご利用明細の表示（見込み）',
    number: '領収書番号',
    proven: '{network}で証明済み。',
    sent: 'コントラクトは{usdc}を{shop}に送金しました。',
    sentWithin: 'コントラクトは、カードの承認から{time}以内に{usdc}を{shop}に送金しました。',
    transactions: '2件のトランザクションを見る',
  },
  missing: {
    question: '請求されたのに、ここに表示されませんか？',
    usual: '入金は通常、数分で反映されます。決済サービスが審査を行う場合は、1日ほどかかることがあります。',
    ask: 'さらに時間がかかる場合は、入金までお支払いを預かっている{provider}に、下記の参照番号を添えてご連絡ください。',
    support: '{provider}のサポート',
  },
  rest: {
    heading: '残額の支払い方法',
    askShop: '残額の支払い方法を{shop}に問い合わせ、下記の参照番号をお知らせください。',
    fromWallet: 'ウォレットから残額を送金する',
  },
  facts: {
    reference: '参照番号',
    copyReference: '参照番号をコピー',
    referenceAt: '{provider}の参照番号',
    amount: '金額',
    time: '日時',
    arrivedWith: '入金のトランザクション',
    sentWith: 'ショップへの送金のトランザクション',
    newTab: '（新しいタブで開きます）',
    details: 'トランザクションの詳細',
  },
  assurances: {
    exact: '{provider}で手続きを完了し、{amount}ちょうどを支払います。',
    above: '{provider}で手続きを完了し、手数料込みで{amount}を支払います。',
    statement: '明細には{provider}と記載される可能性があります。',
    money: '代金が届くのは{shop}のみです（サービス手数料がある場合は差し引かれます）。',
    check: 'ご自身で確認',
    email: 'メールアドレス（{email}）を決済サービスに提供します。',
    emailToSome:
      '決済サービスが当方からのメールアドレスを受け付ける場合、お客様のアドレス（{email}）を提供します。',
    emailKept:
      'ショップはこのお支払いにメールアドレス（{email}）を登録しています。お使いのリンクには含まれていないため、決済サービスには提供されません。',
  },
  offline: 'オフラインです。接続が戻ると、このページは自動で再開します。',
  messages: {
    unknownPage: {
      heading: 'ページが見つかりません',
      sentence:
        'このアドレスには何もありません。お支払いには、ショップまたは届いたメッセージからリンクをもう一度開いてください。',
    },
    unknownLink: {
      heading: 'お支払いが見つかりません',
      sentence:
        'リンクが不完全な可能性があります。ショップまたは受け取ったメッセージからもう一度開いてください。',
    },
    tooManyRequests: {
      heading: 'お使いのネットワークからのリクエストが多すぎます',
      sentence:
        'お支払いへの影響はなく、請求も行われていません。1分ほど待ってからページを再読み込みしてください。',
    },
    didNotWork: {
      heading: '処理できませんでした',
      sentence: 'お支払いページに戻り、再度お試しください。',
    },
    ourFailure: {
      heading: 'システムでエラーが発生しました',
      sentence: 'これによるカードへの請求は行われていません。しばらくしてから再度お試しください。',
    },
  },
  shortLink: {
    title: '{shop}に{amount}を支払う',
    description: '{shop}にカードで支払います。',
    continue: 'お支払いに進む',
    see: 'お支払いを見る',
  },
  shop: {
    contact: '{shop}に問い合わせる',
    support: 'ご不明な点は{shop}へ',
    terms: '{shop}の利用規約',
    back: '{shop}に戻る',
    leadsTo: 'リンク先は{host}です。',
    automatic: '{seconds}秒後に{host}に移動します。',
    stay: 'このページにとどまる',
  },
  phone: {
    heading: 'スマートフォンで続ける',
    hint: 'スマートフォンのカメラでこのコードを読み取ると、このお支払いページが開きます。',
    code: 'このお支払いページのQRコード',
  },
  direct: {
    heading: '{amount}を送金してください',
    waiting: '送金を待っています。ネットワークで確定すると（数秒～1分後）、入金済みになります。',
    partly: '{received}の入金がありました。表示されているのは不足分の金額です。',
    network: 'ネットワーク',
    testNetwork: 'ローカルのテストネットワーク、チェーンID {chain}',
    to: '宛先',
    contract: 'USDCコントラクト',
    code: 'ウォレットで読み取る送金用QRコード',
    codeWhole: 'アドレスと金額',
    codeAddress: 'アドレスのみ',
    codeAddressHint: 'もう一方のコードを読み取れないアプリ用です。金額はご自身で入力してください。',
    openHint: '何も起こらない場合は、金額とアドレスをウォレットにコピーしてください。',
    networkMissing: 'ウォレットに{network}が表示されない場合',
    networkAdd: 'ウォレットのネットワーク設定で、次の値を使って追加してください。',
    open: 'ウォレットで開く',
    copy: 'コピー',
    payWith: '{wallet}で支払う',
    sent: 'ウォレットが送金しました。ネットワークの確認を待っています。',
    refused: 'ウォレットは送金しませんでした。支払いは行われていません。',
    onlyThere: '必ず{network}でUSDCのみを送金してください。それ以外は届かず、失われる可能性があります。',
    whole: '全額を送金してください。ネットワークや取引所の手数料は別途かかります。',
    once: 'このアドレスは、このお支払いにのみ使用してください。',
  },
  page: {
    amount: '金額（{currency}）',
    amountHint: '{minimum}から{maximum}まで',
    suggested: '金額の候補',
    left: '残り{count}点',
    amountWrong: '{minimum}から{maximum}までの金額を入力してください。',
    amountUnclear: '小数点以下2桁まで入力してください（例：{example}）。',
    optional: '{question}（任意）',
    answerHint: '回答を見るのは{shop}だけです。',
    answerMissing: 'この質問にお答えください。',
    answerTooLong: '改行せずに{count}文字以内で入力してください。',
    feeAdded: '手数料が加算されます。合計額は、お支払いの前に次のページに表示されます。',
    pay: 'お支払いに進む',
    busy: '現在、ここでの支払い手続きが集中しています。請求は行われていません。数分後に再度お試しください。',
    paused: {
      heading: 'このページでは現在お支払いを受け付けていません',
      sentence: '請求は行われていません。{shop}にご連絡いただくか、後ほど再度お試しください。',
    },
    ended: { heading: '受付は終了しました' },
    sold_out: { heading: '完売しました' },
    noMore: 'このページでのお支払いの受付は終了しました。ご質問は{shop}にご連絡ください。',
    reserved: {
      heading: '現在、在庫がありません',
      sentence:
        '最後の在庫は、ほかのお客様がお支払い手続き中です。{minutes}分以内にお支払いが完了しない分は、再びご購入いただけます。',
    },
  },
  mail: {
    subject: '{shop}の領収書：{amount}',
    paid: '{shop}に{amount}をお支払いいただきました。',
    page: 'この領収書をウェブで見る',
    questions: 'ご注文に関するお問い合わせ',
    warning: 'このメールに関して、カード情報や追加のお支払いを求められることはありません。',
    tell: '完了したらメールでお知らせします。',
    told: '受け付けました。完了したらメールでお知らせします。',
    own: '領収書はメールで届きます。',
    address: 'メールアドレス',
    send: '送信',
    once: 'このメール1通にのみ使用し、その後削除します。{shop}には表示されません。',
    another: '別のアドレスを使う',
    receipt: 'この領収書をメールで受け取る',
    coming: '領収書をメールでお送りしています。',
    wrong: 'name@example.com のようなメールアドレスを入力してください。',
    tooOften: '現在、これ以上メールを依頼できません。時間をおいて再度お試しください。',
    asked:
      'このお支払いのページでお客様のメールアドレスが入力されたため、このメールを1通だけお送りしています。アドレスは削除されました。',
  },
};

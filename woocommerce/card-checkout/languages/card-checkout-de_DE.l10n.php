<?php
/** Translations of card-checkout for WordPress 6.5 and newer. */
defined('ABSPATH') || exit;

return [
    'domain' => 'card-checkout',
    'language' => 'de_DE',
    'messages' => [
        '%s USDC arrived after the payment was canceled. Release it in the dashboard, then ship or refund by hand.' =>
            '%s USDC sind eingegangen, nachdem die Zahlung storniert war. Geben Sie sie im Dashboard frei, und versenden oder erstatten Sie dann von Hand.',
        '%s USDC of the canceled payment was released to your wallet. Ship or refund by hand.' =>
            '%s USDC der stornierten Zahlung wurden an Ihre Wallet ausgezahlt. Versenden oder erstatten Sie von Hand.',
        '%s USDC received. The payout to your wallet is on its way. Do not ship yet.' =>
            '%s USDC eingegangen. Die Auszahlung an Ihre Wallet läuft. Versenden Sie noch nicht.',
        'API key' =>
            'API-Schlüssel',
        'Canceled, money paid out' =>
            'Storniert, Geld ausgezahlt',
        'Canceled, with money waiting' =>
            'Storniert, Geld wartet',
        'Card' =>
            'Karte',
        'Card checkout' =>
            'Card Checkout',
        'Card checkout is not offered to customers: %s' =>
            'Card Checkout wird Kunden nicht angeboten: %s',
        'Check now' =>
            'Jetzt prüfen',
        'Connection' =>
            'Verbindung',
        'Customers pay by card at an on-ramp provider. You receive USDC on Polygon in your own wallet.' =>
            'Kunden zahlen mit Karte bei einem On-Ramp-Anbieter. Sie erhalten USDC auf Polygon in Ihrer eigenen Wallet.',
        'Deposit transaction' =>
            'Einzahlungstransaktion',
        'Description' =>
            'Beschreibung',
        'Enable' =>
            'Aktivieren',
        'Expired or canceled' =>
            'Abgelaufen oder storniert',
        'Last accepted webhook: %s UTC.' =>
            'Letzter angenommener Webhook: %s UTC.',
        'Last checked' =>
            'Zuletzt geprüft',
        'Last rejected webhook: %1$s UTC. %2$s' =>
            'Letzter abgelehnter Webhook: %1$s UTC. %2$s',
        'Needs attention' =>
            'Erfordert Aufmerksamkeit',
        'Offer card checkout to customers' =>
            'Kunden Card Checkout anbieten',
        'Open' =>
            'Offen',
        'Paid' =>
            'Bezahlt',
        'Paid after the order had been cancelled. Check the stock, then ship or refund by hand.' =>
            'Bezahlt, nachdem die Bestellung storniert war. Prüfen Sie den Bestand, und versenden oder erstatten Sie dann von Hand.',
        'Paid out' =>
            'Ausgezahlt',
        'Paid: %1$s USDC received, %2$s USDC paid out to your wallet. Payment %3$s, deposit %4$s, payout %5$s.' =>
            'Bezahlt: %1$s USDC eingegangen, %2$s USDC an Ihre Wallet ausgezahlt. Zahlung %3$s, Einzahlung %4$s, Auszahlung %5$s.',
        'Partially paid' =>
            'Teilweise bezahlt',
        'Partially paid: %s USDC received. The customer can pay the rest at the same checkout link.' =>
            'Teilweise bezahlt: %s USDC eingegangen. Der Kunde kann den Rest über denselben Checkout-Link bezahlen.',
        'Payment' =>
            'Zahlung',
        'Payout on its way' =>
            'Auszahlung läuft',
        'Payout transaction' =>
            'Auszahlungstransaktion',
        'Payout wallet' =>
            'Auszahlungs-Wallet',
        'Received' =>
            'Eingegangen',
        'Saved, ends in %s. Enter a new key to replace it.' =>
            'Gespeichert, endet auf %s. Geben Sie einen neuen Schlüssel ein, um ihn zu ersetzen.',
        'Service address' =>
            'Adresse des Dienstes',
        'Settings' =>
            'Einstellungen',
        'State' =>
            'Status',
        'Test connection' =>
            'Verbindung testen',
        'Tested on %1$s UTC. Deposit contracts on chain %2$s are accepted.' =>
            'Getestet am %1$s UTC. Die Einzahlungsverträge auf Chain %2$s sind akzeptiert.',
        'The API key is missing.' =>
            'Der API-Schlüssel fehlt.',
        'The API key must begin with service_live_.' =>
            'Der API-Schlüssel muss mit service_live_ beginnen.',
        'The body is not an event.' =>
            'Der Inhalt ist kein Ereignis.',
        'The body is too long.' =>
            'Der Inhalt ist zu lang.',
        'The connection does not work: %s' =>
            'Die Verbindung funktioniert nicht: %s',
        'The connection has not been tested yet.' =>
            'Die Verbindung wurde noch nicht getestet.',
        'The connection works.' =>
            'Die Verbindung funktioniert.',
        'The event is about another payment.' =>
            'Das Ereignis betrifft eine andere Zahlung.',
        'The event is old, or the clock of one of the servers is wrong.' =>
            'Das Ereignis ist alt, oder die Uhr eines der Server geht falsch.',
        'The https address of your card-checkout service.' =>
            'Die https-Adresse Ihres card-checkout-Dienstes.',
        'The key needs the scopes create and read. CARD_CHECKOUT_API_KEY in wp-config.php takes precedence.' =>
            'Der Schlüssel braucht die Berechtigungen create und read. CARD_CHECKOUT_API_KEY in wp-config.php hat Vorrang.',
        'The order does not exist.' =>
            'Die Bestellung existiert nicht.',
        'The order is unknown.' =>
            'Die Bestellung ist unbekannt.',
        'The payment could not be started. Please try again.' =>
            'Die Zahlung konnte nicht gestartet werden. Bitte versuchen Sie es erneut.',
        'The payment expired or was canceled. Nothing was paid.' =>
            'Die Zahlung ist abgelaufen oder wurde storniert. Es wurde nichts bezahlt.',
        'The payment was checked.' =>
            'Die Zahlung wurde geprüft.',
        'The payout wallet is missing.' =>
            'Die Auszahlungs-Wallet fehlt.',
        'The payout wallet must be 0x and 40 hexadecimal digits.' =>
            'Die Auszahlungs-Wallet muss aus 0x und 40 hexadezimalen Ziffern bestehen.',
        'The payout was refused. The operator of the service must look at the payment.' =>
            'Die Auszahlung wurde abgelehnt. Der Betreiber des Dienstes muss die Zahlung ansehen.',
        'The service address is missing.' =>
            'Die Adresse des Dienstes fehlt.',
        'The service address must be https:// and a host, without a path.' =>
            'Die Adresse des Dienstes muss aus https:// und einem Host ohne Pfad bestehen.',
        'The shop’s currency is not one of %s.' =>
            'Die Währung des Shops ist keine von %s.',
        'The signature is wrong.' =>
            'Die Signatur ist falsch.',
        'The test uses the saved settings, and accepts the deposit contracts that the service publishes.' =>
            'Der Test verwendet die gespeicherten Einstellungen und akzeptiert die Einzahlungsverträge, die der Dienst veröffentlicht.',
        'This order has no payment at card checkout.' =>
            'Diese Bestellung hat keine Zahlung bei Card Checkout.',
        'Title' =>
            'Titel',
        'What customers see at the checkout.' =>
            'Was Kunden an der Kasse sehen.',
        'You may not do this.' =>
            'Sie dürfen das nicht.',
        'You pay by card on the next page, and then return to the shop.' =>
            'Sie zahlen auf der nächsten Seite mit Karte und kehren dann zum Shop zurück.',
        'Your own address on Polygon (0x…).' =>
            'Ihre eigene Adresse auf Polygon (0x…).',
    ],
];

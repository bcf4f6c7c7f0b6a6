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
        'A refund of this order is open already. %s' =>
            'Für diese Bestellung ist bereits eine Erstattung offen. %s',
        'API key' =>
            'API-Schlüssel',
        'Amount in USDC' =>
            'Betrag in USDC',
        'Cancel refund' =>
            'Erstattung stornieren',
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
        'Card checkout: Refund of %1$s canceled (%2$s). Nothing was refunded.' =>
            'Card Checkout: Erstattung von %1$s storniert (%2$s). Es wurde nichts erstattet.',
        'Card checkout: Refund of %1$s expired (%2$s): the transfer did not come in time.' =>
            'Card Checkout: Erstattung von %1$s abgelaufen (%2$s): Die Überweisung kam nicht rechtzeitig.',
        'Card checkout: Refund of %1$s opened (%2$s). %3$s' =>
            'Card Checkout: Erstattung von %1$s eröffnet (%2$s). %3$s',
        'Card checkout: Refund of %1$s paid. %2$s USDC went to %3$s in transaction %4$s (%5$s).' =>
            'Card Checkout: Erstattung von %1$s bezahlt. %2$s USDC gingen in der Transaktion %4$s an %3$s (%5$s).',
        'Check it with the customer over a channel that you know. A link can be forwarded.' =>
            'Prüfen Sie sie mit dem Kunden über einen Weg, den Sie kennen. Ein Link kann weitergeleitet werden.',
        'Check now' =>
            'Jetzt prüfen',
        'Confirm address' =>
            'Adresse bestätigen',
        'Connect in one click' =>
            'Mit einem Klick verbinden',
        'Connection' =>
            'Verbindung',
        'Customers pay by card at an on-ramp provider. You receive USDC on Polygon in your own wallet.' =>
            'Kunden zahlen mit Karte bei einem On-Ramp-Anbieter. Sie erhalten USDC auf Polygon in Ihrer eigenen Wallet.',
        'Customer’s address' =>
            'Adresse des Kunden',
        'Customer’s address for a refund' =>
            'Adresse des Kunden für eine Erstattung',
        'Deposit transaction' =>
            'Einzahlungstransaktion',
        'Description' =>
            'Beschreibung',
        'Enable' =>
            'Aktivieren',
        'Enter and save the service address first.' =>
            'Geben Sie zuerst die Adresse des Dienstes ein und speichern Sie sie.',
        'Expired or canceled' =>
            'Abgelaufen oder storniert',
        'If you do not know it, leave it empty: the refund has a link for the customer.' =>
            'Wenn Sie sie nicht kennen, lassen Sie das Feld leer: Die Erstattung hat einen Link für den Kunden.',
        'Last accepted webhook: %s UTC.' =>
            'Letzter angenommener Webhook: %s UTC.',
        'Last checked' =>
            'Zuletzt geprüft',
        'Last rejected webhook: %1$s UTC. %2$s' =>
            'Letzter abgelehnter Webhook: %1$s UTC. %2$s',
        'Link for the customer' =>
            'Link für den Kunden',
        'Money arrived that this order does not need: %1$s USDC by payment %2$s (%3$s). Check it, and refund it by hand.' =>
            'Geld ist eingegangen, das diese Bestellung nicht braucht: %1$s USDC durch Zahlung %2$s (%3$s). Prüfen Sie es, und erstatten Sie es von Hand.',
        'Needs attention' =>
            'Erfordert Aufmerksamkeit',
        'Nothing was paid that could be refunded.' =>
            'Es wurde nichts bezahlt, das erstattet werden könnte.',
        'Offer card checkout to customers' =>
            'Kunden Card Checkout anbieten',
        'Offered for totals from 0.01 to 10,000 in USD, EUR, CAD or INR.' =>
            'Angeboten für Beträge von 0,01 bis 10.000 in USD, EUR, CAD oder INR.',
        'Open' =>
            'Offen',
        'Open in a wallet' =>
            'In einer Wallet öffnen',
        'Open refund' =>
            'Offene Erstattung',
        'Open the refund with “Refund” at the order’s items.' =>
            'Eröffnen Sie die Erstattung mit „Rückerstattung“ bei den Positionen der Bestellung.',
        'Paid' =>
            'Bezahlt',
        'Paid after the order had been cancelled or moved to the trash. Check the stock, then ship or refund by hand.' =>
            'Bezahlt, nachdem die Bestellung storniert oder in den Papierkorb verschoben war. Prüfen Sie den Bestand, und versenden oder erstatten Sie dann von Hand.',
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
        'Save address' =>
            'Adresse speichern',
        'Saved, ends in %s. Enter a new key to replace it.' =>
            'Gespeichert, endet auf %s. Geben Sie einen neuen Schlüssel ein, um ihn zu ersetzen.',
        'Send it to the customer, who names an address there.' =>
            'Senden Sie ihn dem Kunden, der dort eine Adresse angibt.',
        'Send the customer this link, where they name an address: %s' =>
            'Senden Sie dem Kunden diesen Link, unter dem er eine Adresse angibt: %s',
        'Service address' =>
            'Adresse des Dienstes',
        'Settings' =>
            'Einstellungen',
        'State' =>
            'Status',
        'Submit transaction' =>
            'Transaktion einreichen',
        'Test connection' =>
            'Verbindung testen',
        'Tested on %1$s UTC. Deposit contracts on chain %2$s are accepted.' =>
            'Getestet am %1$s UTC. Die Einzahlungsverträge auf Chain %2$s sind akzeptiert.',
        'The API key is missing.' =>
            'Der API-Schlüssel fehlt.',
        'The API key must begin with service_live_.' =>
            'Der API-Schlüssel muss mit service_live_ beginnen.',
        'The address is confirmed. The refund can be paid.' =>
            'Die Adresse ist bestätigt. Die Erstattung kann bezahlt werden.',
        'The amount must be positive, and at most the payment of %s.' =>
            'Der Betrag muss positiv sein und darf die Zahlung von %s nicht übersteigen.',
        'The body is not an event.' =>
            'Der Inhalt ist kein Ereignis.',
        'The body is too long.' =>
            'Der Inhalt ist zu lang.',
        'The connection does not work: %s' =>
            'Die Verbindung funktioniert nicht: %s',
        'The connection has not been tested yet.' =>
            'Die Verbindung wurde noch nicht getestet.',
        'The connection was not started here, or took too long. Start it again.' =>
            'Die Verbindung wurde nicht hier begonnen oder hat zu lange gedauert. Beginnen Sie sie erneut.',
        'The connection works.' =>
            'Die Verbindung funktioniert.',
        'The customer named' =>
            'Vom Kunden angegeben',
        'The customer named the address %s. Check it with the customer, then confirm it.' =>
            'Der Kunde hat die Adresse %s angegeben. Prüfen Sie sie mit dem Kunden, und bestätigen Sie sie dann.',
        'The customer’s address must be 0x and 40 hexadecimal digits. It was not saved.' =>
            'Die Adresse des Kunden muss aus 0x und 40 hexadezimalen Ziffern bestehen. Sie wurde nicht gespeichert.',
        'The event is about another payment.' =>
            'Das Ereignis betrifft eine andere Zahlung.',
        'The event is old, or the clock of one of the servers is wrong.' =>
            'Das Ereignis ist alt, oder die Uhr eines der Server geht falsch.',
        'The https address of your card-checkout service.' =>
            'Die https-Adresse Ihres card-checkout-Dienstes.',
        'The key needs the scopes create, read and refund. CARD_CHECKOUT_API_KEY in wp-config.php takes precedence.' =>
            'Der Schlüssel braucht die Berechtigungen create, read und refund. CARD_CHECKOUT_API_KEY in wp-config.php hat Vorrang.',
        'The link for the customer was lost. Cancel the refund and open another one.' =>
            'Der Link für den Kunden ging verloren. Stornieren Sie die Erstattung, und eröffnen Sie eine neue.',
        'The order does not exist.' =>
            'Die Bestellung existiert nicht.',
        'The order is unknown.' =>
            'Die Bestellung ist unbekannt.',
        'The payment could not be started. Please try again.' =>
            'Die Zahlung konnte nicht gestartet werden. Bitte versuchen Sie es erneut.',
        'The payment expired or was canceled. Nothing was paid.' =>
            'Die Zahlung ist abgelaufen oder wurde storniert. Es wurde nichts bezahlt.',
        'The payment has another currency than the order.' =>
            'Die Zahlung hat eine andere Währung als die Bestellung.',
        'The payment was checked.' =>
            'Die Zahlung wurde geprüft.',
        'The payout wallet is missing.' =>
            'Die Auszahlungs-Wallet fehlt.',
        'The payout wallet must be 0x and 40 hexadecimal digits.' =>
            'Die Auszahlungs-Wallet muss aus 0x und 40 hexadezimalen Ziffern bestehen.',
        'The payout was refused. The operator of the service must look at the payment.' =>
            'Die Auszahlung wurde abgelehnt. Der Betreiber des Dienstes muss die Zahlung ansehen.',
        'The refund is canceled.' =>
            'Die Erstattung ist storniert.',
        'The refund is open and not paid yet. %s Reload the page for the details.' =>
            'Die Erstattung ist offen und noch nicht bezahlt. %s Laden Sie die Seite neu, um die Einzelheiten zu sehen.',
        'The service address is missing.' =>
            'Die Adresse des Dienstes fehlt.',
        'The service address must be https:// and a host, without a path.' =>
            'Die Adresse des Dienstes muss aus https:// und einem Host ohne Pfad bestehen.',
        'The service address was changed meanwhile. Start the connection again.' =>
            'Die Adresse des Dienstes wurde inzwischen geändert. Beginnen Sie die Verbindung erneut.',
        'The service did not answer. Check it in a minute, before you refund again.' =>
            'Der Dienst hat nicht geantwortet. Prüfen Sie in einer Minute, bevor Sie erneut erstatten.',
        'The shop is connected. Check the payout wallet below.' =>
            'Der Shop ist verbunden. Prüfen Sie unten die Auszahlungs-Wallet.',
        'The shop’s address does not begin with https://, so the service cannot send webhooks.' =>
            'Die Adresse des Shops beginnt nicht mit https://, daher kann der Dienst keine Webhooks senden.',
        'The shop’s currency is not one of %s.' =>
            'Die Währung des Shops ist keine von %s.',
        'The signature is wrong.' =>
            'Die Signatur ist falsch.',
        'The test uses the saved settings, and accepts the deposit contracts that the service publishes.' =>
            'Der Test verwendet die gespeicherten Einstellungen und akzeptiert die Einzahlungsverträge, die der Dienst veröffentlicht.',
        'The transaction has no transfer to this address.' =>
            'Die Transaktion enthält keine Überweisung an diese Adresse.',
        'The transaction is checked once it is final.' =>
            'Die Transaktion wird geprüft, sobald sie endgültig ist.',
        'The transaction is older than the payment.' =>
            'Die Transaktion ist älter als die Zahlung.',
        'The transfer belongs to another refund.' =>
            'Die Überweisung gehört zu einer anderen Erstattung.',
        'The transfer exceeds what can be refunded.' =>
            'Die Überweisung übersteigt, was erstattet werden kann.',
        'This order has no payment at card checkout.' =>
            'Diese Bestellung hat keine Zahlung bei Card Checkout.',
        'This payment method cannot take the payment. Please choose another one, or contact the shop.' =>
            'Diese Zahlungsart kann die Zahlung nicht annehmen. Bitte wählen Sie eine andere, oder wenden Sie sich an den Shop.',
        'Title' =>
            'Titel',
        'Transaction, if the transfer is not found' =>
            'Transaktion, falls die Überweisung nicht gefunden wird',
        'Transfer exactly %1$s USDC on Polygon to %2$s from your wallet.' =>
            'Überweisen Sie genau %1$s USDC auf Polygon aus Ihrer Wallet an %2$s.',
        'Transfer exactly this amount from your wallet to this address on Polygon.' =>
            'Überweisen Sie genau diesen Betrag aus Ihrer Wallet an diese Adresse auf Polygon.',
        'What customers see at the checkout.' =>
            'Was Kunden an der Kasse sehen.',
        'WooCommerce did not record it (%s). Record it with “Refund manually”.' =>
            'WooCommerce hat sie nicht verbucht (%s). Verbuchen Sie sie mit „Manuell erstatten“.',
        'WooCommerce records the refund when the transfer is final. It is awaited until %s.' =>
            'WooCommerce verbucht die Erstattung, wenn die Überweisung endgültig ist. Sie wird bis %s erwartet.',
        'You may not do this.' =>
            'Sie dürfen das nicht.',
        'You pay by card on the next page, and then return to the shop.' =>
            'Sie zahlen auf der nächsten Seite mit Karte und kehren dann zum Shop zurück.',
        'You pay it from your wallet: the same share of the USDC that arrived.' =>
            'Sie bezahlen sie aus Ihrer Wallet: denselben Anteil der USDC, die eingegangen sind.',
        'You sign in at the service and approve this shop. The API key is then saved here. Save the service address first.' =>
            'Sie melden sich beim Dienst an und genehmigen diesen Shop. Der API-Schlüssel wird dann hier gespeichert. Speichern Sie zuerst die Adresse des Dienstes.',
        'Your own address on Polygon (0x…).' =>
            'Ihre eigene Adresse auf Polygon (0x…).',
    ],
];

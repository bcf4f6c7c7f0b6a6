<?php
/** Translations of card-checkout for WordPress 6.5 and newer. */
defined('ABSPATH') || exit;

return [
    'domain' => 'card-checkout',
    'language' => 'fr_FR',
    'messages' => [
        '%s USDC arrived after the payment was canceled. Release it in the dashboard, then ship or refund by hand.' =>
            '%s USDC sont arrivés après l’annulation du paiement. Libérez-les dans le tableau de bord, puis expédiez ou remboursez manuellement.',
        '%s USDC of the canceled payment was released to your wallet. Ship or refund by hand.' =>
            '%s USDC du paiement annulé ont été versés dans votre portefeuille. Expédiez ou remboursez manuellement.',
        '%s USDC received. The payout to your wallet is on its way. Do not ship yet.' =>
            '%s USDC reçus. Le versement vers votre portefeuille est en cours. N’expédiez pas encore.',
        'A refund of this order is open already. %s' =>
            'Un remboursement de cette commande est déjà ouvert. %s',
        'API key' =>
            'Clé d’API',
        'Amount in USDC' =>
            'Montant en USDC',
        'Cancel refund' =>
            'Annuler le remboursement',
        'Canceled, money paid out' =>
            'Annulé, argent versé',
        'Canceled, with money waiting' =>
            'Annulé, argent en attente',
        'Card' =>
            'Carte',
        'Card checkout' =>
            'Card checkout',
        'Card checkout is not offered to customers: %s' =>
            'Card checkout n’est pas proposé aux clients : %s',
        'Card checkout: Refund of %1$s canceled (%2$s). Nothing was refunded.' =>
            'Card checkout : remboursement de %1$s annulé (%2$s). Rien n’a été remboursé.',
        'Card checkout: Refund of %1$s expired (%2$s): the transfer did not come in time.' =>
            'Card checkout : remboursement de %1$s expiré (%2$s) : le transfert n’est pas arrivé à temps.',
        'Card checkout: Refund of %1$s opened (%2$s). %3$s' =>
            'Card checkout : remboursement de %1$s ouvert (%2$s). %3$s',
        'Card checkout: Refund of %1$s paid. %2$s USDC went to %3$s in transaction %4$s (%5$s).' =>
            'Card checkout : remboursement de %1$s payé. %2$s USDC envoyés à %3$s dans la transaction %4$s (%5$s).',
        'Check it with the customer over a channel that you know. A link can be forwarded.' =>
            'Vérifiez-la avec le client par un canal que vous connaissez. Un lien peut être transféré.',
        'Check now' =>
            'Vérifier maintenant',
        'Confirm address' =>
            'Confirmer l’adresse',
        'Connect in one click' =>
            'Connecter en un clic',
        'Connection' =>
            'Connexion',
        'Customers pay by card at an on-ramp provider. You receive USDC on Polygon in your own wallet.' =>
            'Les clients paient par carte chez un prestataire on-ramp. Vous recevez des USDC sur Polygon dans votre propre portefeuille.',
        'Customer’s address' =>
            'Adresse du client',
        'Customer’s address for a refund' =>
            'Adresse du client pour un remboursement',
        'Deposit transaction' =>
            'Transaction de dépôt',
        'Description' =>
            'Description',
        'Enable' =>
            'Activer',
        'Enter and save the service address first.' =>
            'Saisissez et enregistrez d’abord l’adresse du service.',
        'Expired or canceled' =>
            'Expiré ou annulé',
        'If you do not know it, leave it empty: the refund has a link for the customer.' =>
            'Si vous ne la connaissez pas, laissez le champ vide : le remboursement a un lien pour le client.',
        'Last accepted webhook: %s UTC.' =>
            'Dernier webhook accepté : %s UTC.',
        'Last checked' =>
            'Dernière vérification',
        'Last rejected webhook: %1$s UTC. %2$s' =>
            'Dernier webhook refusé : %1$s UTC. %2$s',
        'Link for the customer' =>
            'Lien pour le client',
        'Money arrived that this order does not need: %1$s USDC by payment %2$s (%3$s). Check it, and refund it by hand.' =>
            'De l’argent dont cette commande n’a pas besoin est arrivé : %1$s USDC par le paiement %2$s (%3$s). Vérifiez-le, puis remboursez-le manuellement.',
        'Needs attention' =>
            'Demande votre attention',
        'Nothing was paid that could be refunded.' =>
            'Rien n’a été payé qui puisse être remboursé.',
        'Offer card checkout to customers' =>
            'Proposer card checkout aux clients',
        'Offered for totals from 0.01 to 10,000 in USD, EUR, CAD or INR.' =>
            'Proposé pour les totaux de 0,01 à 10 000 en USD, EUR, CAD ou INR.',
        'Open' =>
            'Ouvert',
        'Open in a wallet' =>
            'Ouvrir dans un portefeuille',
        'Open refund' =>
            'Remboursement ouvert',
        'Open the refund with “Refund” at the order’s items.' =>
            'Ouvrez le remboursement avec « Remboursement » sous les articles de la commande.',
        'Paid' =>
            'Payé',
        'Paid after the order had been cancelled or moved to the trash. Check the stock, then ship or refund by hand.' =>
            'Payé après l’annulation de la commande ou sa mise à la corbeille. Vérifiez le stock, puis expédiez ou remboursez manuellement.',
        'Paid out' =>
            'Versé',
        'Paid: %1$s USDC received, %2$s USDC paid out to your wallet. Payment %3$s, deposit %4$s, payout %5$s.' =>
            'Payé : %1$s USDC reçus, %2$s USDC versés dans votre portefeuille. Paiement %3$s, dépôt %4$s, versement %5$s.',
        'Partially paid' =>
            'Payé en partie',
        'Partially paid: %s USDC received. The customer can pay the rest at the same checkout link.' =>
            'Payé en partie : %s USDC reçus. Le client peut payer le reste avec le même lien de paiement.',
        'Payment' =>
            'Paiement',
        'Payout on its way' =>
            'Versement en cours',
        'Payout transaction' =>
            'Transaction de versement',
        'Payout wallet' =>
            'Portefeuille de versement',
        'Received' =>
            'Reçu',
        'Save address' =>
            'Enregistrer l’adresse',
        'Saved, ends in %s. Enter a new key to replace it.' =>
            'Enregistrée, se termine par %s. Saisissez une nouvelle clé pour la remplacer.',
        'Send it to the customer, who names an address there.' =>
            'Envoyez-le au client, qui y indique une adresse.',
        'Send the customer this link, where they name an address: %s' =>
            'Envoyez ce lien au client, qui y indique une adresse : %s',
        'Service address' =>
            'Adresse du service',
        'Settings' =>
            'Réglages',
        'State' =>
            'État',
        'Submit transaction' =>
            'Soumettre la transaction',
        'Test connection' =>
            'Tester la connexion',
        'Tested on %1$s UTC. Deposit contracts on chain %2$s are accepted.' =>
            'Testé le %1$s UTC. Les contrats de dépôt de la chaîne %2$s sont acceptés.',
        'The API key is missing.' =>
            'La clé d’API est absente.',
        'The API key must begin with service_live_.' =>
            'La clé d’API doit commencer par service_live_.',
        'The address is confirmed. The refund can be paid.' =>
            'L’adresse est confirmée. Le remboursement peut être payé.',
        'The amount must be positive, and at most the payment of %s.' =>
            'Le montant doit être positif et ne pas dépasser le paiement de %s.',
        'The body is not an event.' =>
            'Le corps n’est pas un événement.',
        'The body is too long.' =>
            'Le corps est trop long.',
        'The connection does not work: %s' =>
            'La connexion ne fonctionne pas : %s',
        'The connection has not been tested yet.' =>
            'La connexion n’a pas encore été testée.',
        'The connection was not started here, or took too long. Start it again.' =>
            'La connexion n’a pas été lancée ici ou a pris trop de temps. Relancez-la.',
        'The connection works.' =>
            'La connexion fonctionne.',
        'The customer named' =>
            'Indiquée par le client',
        'The customer named the address %s. Check it with the customer, then confirm it.' =>
            'Le client a indiqué l’adresse %s. Vérifiez-la avec le client, puis confirmez-la.',
        'The customer’s address must be 0x and 40 hexadecimal digits. It was not saved.' =>
            'L’adresse du client doit être 0x suivi de 40 chiffres hexadécimaux. Elle n’a pas été enregistrée.',
        'The event is about another payment.' =>
            'L’événement concerne un autre paiement.',
        'The event is old, or the clock of one of the servers is wrong.' =>
            'L’événement est ancien, ou l’horloge d’un des serveurs est fausse.',
        'The https address of your card-checkout service.' =>
            'L’adresse https de votre service card-checkout.',
        'The key needs the scopes create, read and refund. CARD_CHECKOUT_API_KEY in wp-config.php takes precedence.' =>
            'La clé doit avoir les permissions create, read et refund. CARD_CHECKOUT_API_KEY dans wp-config.php est prioritaire.',
        'The link for the customer was lost. Cancel the refund and open another one.' =>
            'Le lien pour le client est perdu. Annulez le remboursement et ouvrez-en un autre.',
        'The order does not exist.' =>
            'La commande n’existe pas.',
        'The order is unknown.' =>
            'La commande est inconnue.',
        'The payment could not be started. Please try again.' =>
            'Le paiement n’a pas pu commencer. Veuillez réessayer.',
        'The payment expired or was canceled. Nothing was paid.' =>
            'Le paiement a expiré ou a été annulé. Rien n’a été payé.',
        'The payment has another currency than the order.' =>
            'Le paiement a une autre devise que la commande.',
        'The payment was checked.' =>
            'Le paiement a été vérifié.',
        'The payout wallet is missing.' =>
            'Le portefeuille de versement est absent.',
        'The payout wallet must be 0x and 40 hexadecimal digits.' =>
            'Le portefeuille de versement doit être 0x suivi de 40 chiffres hexadécimaux.',
        'The payout was refused. The operator of the service must look at the payment.' =>
            'Le versement a été refusé. L’opérateur du service doit examiner le paiement.',
        'The refund is canceled.' =>
            'Le remboursement est annulé.',
        'The refund is open and not paid yet. %s Reload the page for the details.' =>
            'Le remboursement est ouvert et pas encore payé. %s Rechargez la page pour voir les détails.',
        'The service address is missing.' =>
            'L’adresse du service est absente.',
        'The service address must be https:// and a host, without a path.' =>
            'L’adresse du service doit être https:// et un hôte, sans chemin.',
        'The service address was changed meanwhile. Start the connection again.' =>
            'L’adresse du service a changé entre-temps. Relancez la connexion.',
        'The service did not answer. Check it in a minute, before you refund again.' =>
            'Le service n’a pas répondu. Vérifiez dans une minute, avant de rembourser à nouveau.',
        'The shop is connected. Check the payout wallet below.' =>
            'La boutique est connectée. Vérifiez le portefeuille de versement ci-dessous.',
        'The shop’s address does not begin with https://, so the service cannot send webhooks.' =>
            'L’adresse de la boutique ne commence pas par https://, donc le service ne peut pas envoyer de webhooks.',
        'The shop’s currency is not one of %s.' =>
            'La devise de la boutique n’est pas l’une de %s.',
        'The signature is wrong.' =>
            'La signature est incorrecte.',
        'The test uses the saved settings, and accepts the deposit contracts that the service publishes.' =>
            'Le test utilise les réglages enregistrés et accepte les contrats de dépôt que le service publie.',
        'The transaction has no transfer to this address.' =>
            'La transaction ne contient aucun transfert vers cette adresse.',
        'The transaction is checked once it is final.' =>
            'La transaction est vérifiée dès qu’elle est définitive.',
        'The transaction is older than the payment.' =>
            'La transaction est antérieure au paiement.',
        'The transfer belongs to another refund.' =>
            'Le transfert appartient à un autre remboursement.',
        'The transfer exceeds what can be refunded.' =>
            'Le transfert dépasse ce qui peut être remboursé.',
        'This order has no payment at card checkout.' =>
            'Cette commande n’a pas de paiement chez card checkout.',
        'This payment method cannot take the payment. Please choose another one, or contact the shop.' =>
            'Ce moyen de paiement ne peut pas accepter le paiement. Choisissez-en un autre, ou contactez la boutique.',
        'Title' =>
            'Titre',
        'Transaction, if the transfer is not found' =>
            'Transaction, si le transfert n’est pas trouvé',
        'Transfer exactly %1$s USDC on Polygon to %2$s from your wallet.' =>
            'Transférez exactement %1$s USDC sur Polygon à %2$s depuis votre portefeuille.',
        'Transfer exactly this amount from your wallet to this address on Polygon.' =>
            'Transférez exactement ce montant depuis votre portefeuille à cette adresse sur Polygon.',
        'What customers see at the checkout.' =>
            'Ce que les clients voient au moment de payer.',
        'WooCommerce did not record it (%s). Record it with “Refund manually”.' =>
            'WooCommerce ne l’a pas enregistré (%s). Enregistrez-le avec « Rembourser manuellement ».',
        'WooCommerce records the refund when the transfer is final. It is awaited until %s.' =>
            'WooCommerce enregistre le remboursement quand le transfert est définitif. Il est attendu jusqu’au %s.',
        'You may not do this.' =>
            'Vous n’avez pas le droit de faire cela.',
        'You pay by card on the next page, and then return to the shop.' =>
            'Vous payez par carte sur la page suivante, puis vous revenez à la boutique.',
        'You pay it from your wallet: the same share of the USDC that arrived.' =>
            'Vous le payez depuis votre portefeuille : la même part des USDC arrivés.',
        'You sign in at the service and approve this shop. The API key is then saved here. Save the service address first.' =>
            'Vous vous connectez au service et approuvez cette boutique. La clé API est ensuite enregistrée ici. Enregistrez d’abord l’adresse du service.',
        'Your own address on Polygon (0x…).' =>
            'Votre propre adresse sur Polygon (0x…).',
    ],
];

<?php
/** Translations of card-checkout for WordPress 6.5 and newer. */
defined('ABSPATH') || exit;

return [
    'domain' => 'card-checkout',
    'language' => 'es_ES',
    'messages' => [
        '%s USDC arrived after the payment was canceled. Release it in the dashboard, then ship or refund by hand.' =>
            'Llegaron %s USDC después de cancelarse el pago. Libérelos en el panel y luego envíe el pedido o reembólselo a mano.',
        '%s USDC of the canceled payment was released to your wallet. Ship or refund by hand.' =>
            'Se transfirieron a su cartera %s USDC del pago cancelado. Envíe el pedido o reembólselo a mano.',
        '%s USDC received. The payout to your wallet is on its way. Do not ship yet.' =>
            'Se recibieron %s USDC. La transferencia a su cartera está en curso. No envíe el pedido todavía.',
        'A refund of this order is open already. %s' =>
            'Este pedido ya tiene un reembolso abierto. %s',
        'API key' =>
            'Clave de API',
        'Amount in USDC' =>
            'Importe en USDC',
        'Cancel refund' =>
            'Cancelar el reembolso',
        'Canceled, money paid out' =>
            'Cancelado, dinero transferido',
        'Canceled, with money waiting' =>
            'Cancelado, con dinero pendiente',
        'Card' =>
            'Tarjeta',
        'Card checkout' =>
            'Card checkout',
        'Card checkout is not offered to customers: %s' =>
            'Card checkout no se ofrece a los clientes: %s',
        'Card checkout: Refund of %1$s canceled (%2$s). Nothing was refunded.' =>
            'Card checkout: reembolso de %1$s cancelado (%2$s). No se reembolsó nada.',
        'Card checkout: Refund of %1$s expired (%2$s): the transfer did not come in time.' =>
            'Card checkout: reembolso de %1$s caducado (%2$s): la transferencia no llegó a tiempo.',
        'Card checkout: Refund of %1$s opened (%2$s). %3$s' =>
            'Card checkout: reembolso de %1$s abierto (%2$s). %3$s',
        'Card checkout: Refund of %1$s paid. %2$s USDC went to %3$s in transaction %4$s (%5$s).' =>
            'Card checkout: reembolso de %1$s pagado. Se enviaron %2$s USDC a %3$s en la transacción %4$s (%5$s).',
        'Check it with the customer over a channel that you know. A link can be forwarded.' =>
            'Compruébela con el cliente por un canal que conozca. Un enlace se puede reenviar.',
        'Check now' =>
            'Comprobar ahora',
        'Confirm address' =>
            'Confirmar la dirección',
        'Connect in one click' =>
            'Conectar con un clic',
        'Connection' =>
            'Conexión',
        'Customers pay by card at an on-ramp provider. You receive USDC on Polygon in your own wallet.' =>
            'Los clientes pagan con tarjeta en un proveedor de on-ramp. Usted recibe USDC en Polygon en su propia cartera.',
        'Customer’s address' =>
            'Dirección del cliente',
        'Customer’s address for a refund' =>
            'Dirección del cliente para un reembolso',
        'Deposit transaction' =>
            'Transacción de depósito',
        'Description' =>
            'Descripción',
        'Enable' =>
            'Activar',
        'Enter and save the service address first.' =>
            'Introduzca y guarde primero la dirección del servicio.',
        'Expired or canceled' =>
            'Caducado o cancelado',
        'If you do not know it, leave it empty: the refund has a link for the customer.' =>
            'Si no la conoce, deje el campo vacío: el reembolso tiene un enlace para el cliente.',
        'Last accepted webhook: %s UTC.' =>
            'Último webhook aceptado: %s UTC.',
        'Last checked' =>
            'Última comprobación',
        'Last rejected webhook: %1$s UTC. %2$s' =>
            'Último webhook rechazado: %1$s UTC. %2$s',
        'Link for the customer' =>
            'Enlace para el cliente',
        'Money arrived that this order does not need: %1$s USDC by payment %2$s (%3$s). Check it, and refund it by hand.' =>
            'Ha llegado dinero que este pedido no necesita: %1$s USDC por el pago %2$s (%3$s). Compruébelo y reembólselo a mano.',
        'Needs attention' =>
            'Requiere atención',
        'Nothing was paid that could be refunded.' =>
            'No se pagó nada que se pueda reembolsar.',
        'Offer card checkout to customers' =>
            'Ofrecer card checkout a los clientes',
        'Offered for totals from 0.01 to 10,000 in USD, EUR, CAD or INR.' =>
            'Se ofrece para totales de 0,01 a 10.000 en USD, EUR, CAD o INR.',
        'Open' =>
            'Abierto',
        'Open in a wallet' =>
            'Abrir en una cartera',
        'Open refund' =>
            'Reembolso abierto',
        'Open the refund with “Refund” at the order’s items.' =>
            'Abra el reembolso con «Reembolso» junto a los artículos del pedido.',
        'Paid' =>
            'Pagado',
        'Paid after the order had been cancelled or moved to the trash. Check the stock, then ship or refund by hand.' =>
            'Pagado después de cancelarse el pedido o de moverse a la papelera. Compruebe las existencias y luego envíelo o reembólselo a mano.',
        'Paid out' =>
            'Transferido',
        'Paid: %1$s USDC received, %2$s USDC paid out to your wallet. Payment %3$s, deposit %4$s, payout %5$s.' =>
            'Pagado: %1$s USDC recibidos, %2$s USDC transferidos a su cartera. Pago %3$s, depósito %4$s, transferencia %5$s.',
        'Partially paid' =>
            'Pagado en parte',
        'Partially paid: %s USDC received. The customer can pay the rest at the same checkout link.' =>
            'Pagado en parte: %s USDC recibidos. El cliente puede pagar el resto con el mismo enlace de pago.',
        'Payment' =>
            'Pago',
        'Payout on its way' =>
            'Transferencia en curso',
        'Payout transaction' =>
            'Transacción de transferencia',
        'Payout wallet' =>
            'Cartera de cobro',
        'Received' =>
            'Recibido',
        'Save address' =>
            'Guardar la dirección',
        'Saved, ends in %s. Enter a new key to replace it.' =>
            'Guardada, termina en %s. Introduzca una clave nueva para sustituirla.',
        'Send it to the customer, who names an address there.' =>
            'Envíelo al cliente, que indica allí una dirección.',
        'Send the customer this link, where they name an address: %s' =>
            'Envíe al cliente este enlace, donde indica una dirección: %s',
        'Service address' =>
            'Dirección del servicio',
        'Settings' =>
            'Ajustes',
        'State' =>
            'Estado',
        'Submit transaction' =>
            'Enviar la transacción',
        'Test connection' =>
            'Probar la conexión',
        'Tested on %1$s UTC. Deposit contracts on chain %2$s are accepted.' =>
            'Probado el %1$s UTC. Los contratos de depósito de la cadena %2$s están aceptados.',
        'The API key is missing.' =>
            'Falta la clave de API.',
        'The API key must begin with service_live_.' =>
            'La clave de API debe empezar por service_live_.',
        'The address is confirmed. The refund can be paid.' =>
            'La dirección está confirmada. El reembolso se puede pagar.',
        'The amount must be positive, and at most the payment of %s.' =>
            'El importe debe ser positivo y no superar el pago de %s.',
        'The body is not an event.' =>
            'El cuerpo no es un evento.',
        'The body is too long.' =>
            'El cuerpo es demasiado largo.',
        'The connection does not work: %s' =>
            'La conexión no funciona: %s',
        'The connection has not been tested yet.' =>
            'La conexión aún no se ha probado.',
        'The connection was not started here, or took too long. Start it again.' =>
            'La conexión no se inició aquí o tardó demasiado. Iníciela de nuevo.',
        'The connection works.' =>
            'La conexión funciona.',
        'The customer named' =>
            'Indicada por el cliente',
        'The customer named the address %s. Check it with the customer, then confirm it.' =>
            'El cliente indicó la dirección %s. Compruébela con el cliente y confírmela.',
        'The customer’s address must be 0x and 40 hexadecimal digits. It was not saved.' =>
            'La dirección del cliente debe ser 0x y 40 dígitos hexadecimales. No se guardó.',
        'The event is about another payment.' =>
            'El evento se refiere a otro pago.',
        'The event is old, or the clock of one of the servers is wrong.' =>
            'El evento es antiguo, o el reloj de uno de los servidores está mal.',
        'The https address of your card-checkout service.' =>
            'La dirección https de su servicio card-checkout.',
        'The key needs the scopes create, read and refund. CARD_CHECKOUT_API_KEY in wp-config.php takes precedence.' =>
            'La clave necesita los permisos create, read y refund. CARD_CHECKOUT_API_KEY en wp-config.php tiene prioridad.',
        'The link for the customer was lost. Cancel the refund and open another one.' =>
            'El enlace para el cliente se perdió. Cancele el reembolso y abra otro.',
        'The order does not exist.' =>
            'El pedido no existe.',
        'The order is unknown.' =>
            'El pedido es desconocido.',
        'The payment could not be started. Please try again.' =>
            'No se pudo iniciar el pago. Inténtelo de nuevo.',
        'The payment expired or was canceled. Nothing was paid.' =>
            'El pago caducó o se canceló. No se pagó nada.',
        'The payment has another currency than the order.' =>
            'El pago tiene otra moneda que el pedido.',
        'The payment was checked.' =>
            'El pago se ha comprobado.',
        'The payout wallet is missing.' =>
            'Falta la cartera de cobro.',
        'The payout wallet must be 0x and 40 hexadecimal digits.' =>
            'La cartera de cobro debe ser 0x y 40 dígitos hexadecimales.',
        'The payout was refused. The operator of the service must look at the payment.' =>
            'La transferencia fue rechazada. El operador del servicio debe revisar el pago.',
        'The refund is canceled.' =>
            'El reembolso está cancelado.',
        'The refund is open and not paid yet. %s Reload the page for the details.' =>
            'El reembolso está abierto y aún no se ha pagado. %s Vuelva a cargar la página para ver los detalles.',
        'The service address is missing.' =>
            'Falta la dirección del servicio.',
        'The service address must be https:// and a host, without a path.' =>
            'La dirección del servicio debe ser https:// y un host, sin ruta.',
        'The service address was changed meanwhile. Start the connection again.' =>
            'La dirección del servicio ha cambiado entretanto. Inicie la conexión de nuevo.',
        'The service did not answer. Check it in a minute, before you refund again.' =>
            'El servicio no respondió. Compruébelo dentro de un minuto, antes de volver a reembolsar.',
        'The shop is connected. Check the payout wallet below.' =>
            'La tienda está conectada. Compruebe abajo la billetera de pago.',
        'The shop’s address does not begin with https://, so the service cannot send webhooks.' =>
            'La dirección de la tienda no empieza por https://, por lo que el servicio no puede enviar webhooks.',
        'The shop’s currency is not one of %s.' =>
            'La moneda de la tienda no es ninguna de %s.',
        'The signature is wrong.' =>
            'La firma es incorrecta.',
        'The test uses the saved settings, and accepts the deposit contracts that the service publishes.' =>
            'La prueba usa los ajustes guardados y acepta los contratos de depósito que publica el servicio.',
        'The transaction has no transfer to this address.' =>
            'La transacción no contiene ninguna transferencia a esta dirección.',
        'The transaction is checked once it is final.' =>
            'La transacción se comprueba cuando es definitiva.',
        'The transaction is older than the payment.' =>
            'La transacción es anterior al pago.',
        'The transfer belongs to another refund.' =>
            'La transferencia pertenece a otro reembolso.',
        'The transfer exceeds what can be refunded.' =>
            'La transferencia supera lo que se puede reembolsar.',
        'This order has no payment at card checkout.' =>
            'Este pedido no tiene ningún pago en card checkout.',
        'This payment method cannot take the payment. Please choose another one, or contact the shop.' =>
            'Este método de pago no puede aceptar el pago. Elija otro o póngase en contacto con la tienda.',
        'Title' =>
            'Título',
        'Transaction, if the transfer is not found' =>
            'Transacción, si no se encuentra la transferencia',
        'Transfer exactly %1$s USDC on Polygon to %2$s from your wallet.' =>
            'Transfiera exactamente %1$s USDC en Polygon a %2$s desde su cartera.',
        'Transfer exactly this amount from your wallet to this address on Polygon.' =>
            'Transfiera exactamente este importe desde su cartera a esta dirección en Polygon.',
        'What customers see at the checkout.' =>
            'Lo que ven los clientes al pagar.',
        'WooCommerce did not record it (%s). Record it with “Refund manually”.' =>
            'WooCommerce no lo registró (%s). Regístrelo con «Reembolso manual».',
        'WooCommerce records the refund when the transfer is final. It is awaited until %s.' =>
            'WooCommerce registra el reembolso cuando la transferencia es definitiva. Se espera hasta el %s.',
        'You may not do this.' =>
            'No puede hacer esto.',
        'You pay by card on the next page, and then return to the shop.' =>
            'Pague con tarjeta en la página siguiente y vuelva después a la tienda.',
        'You pay it from your wallet: the same share of the USDC that arrived.' =>
            'Usted lo paga desde su cartera: la misma parte de los USDC que llegaron.',
        'You sign in at the service and approve this shop. The API key is then saved here. Save the service address first.' =>
            'Usted inicia sesión en el servicio y aprueba esta tienda. La clave de API se guarda después aquí. Guarde primero la dirección del servicio.',
        'Your own address on Polygon (0x…).' =>
            'Su propia dirección en Polygon (0x…).',
    ],
];

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
        'API key' =>
            'Clave de API',
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
        'Check now' =>
            'Comprobar ahora',
        'Connection' =>
            'Conexión',
        'Customers pay by card at an on-ramp provider. You receive USDC on Polygon in your own wallet.' =>
            'Los clientes pagan con tarjeta en un proveedor de on-ramp. Usted recibe USDC en Polygon en su propia cartera.',
        'Deposit transaction' =>
            'Transacción de depósito',
        'Description' =>
            'Descripción',
        'Enable' =>
            'Activar',
        'Expired or canceled' =>
            'Caducado o cancelado',
        'Last accepted webhook: %s UTC.' =>
            'Último webhook aceptado: %s UTC.',
        'Last checked' =>
            'Última comprobación',
        'Last rejected webhook: %1$s UTC. %2$s' =>
            'Último webhook rechazado: %1$s UTC. %2$s',
        'Needs attention' =>
            'Requiere atención',
        'Offer card checkout to customers' =>
            'Ofrecer card checkout a los clientes',
        'Open' =>
            'Abierto',
        'Paid' =>
            'Pagado',
        'Paid after the order had been cancelled. Check the stock, then ship or refund by hand.' =>
            'Pagado después de cancelarse el pedido. Compruebe las existencias y luego envíelo o reembólselo a mano.',
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
        'Saved, ends in %s. Enter a new key to replace it.' =>
            'Guardada, termina en %s. Introduzca una clave nueva para sustituirla.',
        'Service address' =>
            'Dirección del servicio',
        'Settings' =>
            'Ajustes',
        'State' =>
            'Estado',
        'Test connection' =>
            'Probar la conexión',
        'Tested on %1$s UTC. Deposit contracts on chain %2$s are accepted.' =>
            'Probado el %1$s UTC. Los contratos de depósito de la cadena %2$s están aceptados.',
        'The API key is missing.' =>
            'Falta la clave de API.',
        'The API key must begin with service_live_.' =>
            'La clave de API debe empezar por service_live_.',
        'The body is not an event.' =>
            'El cuerpo no es un evento.',
        'The body is too long.' =>
            'El cuerpo es demasiado largo.',
        'The connection does not work: %s' =>
            'La conexión no funciona: %s',
        'The connection has not been tested yet.' =>
            'La conexión aún no se ha probado.',
        'The connection works.' =>
            'La conexión funciona.',
        'The event is about another payment.' =>
            'El evento se refiere a otro pago.',
        'The event is old, or the clock of one of the servers is wrong.' =>
            'El evento es antiguo, o el reloj de uno de los servidores está mal.',
        'The https address of your card-checkout service.' =>
            'La dirección https de su servicio card-checkout.',
        'The key needs the scopes create and read. CARD_CHECKOUT_API_KEY in wp-config.php takes precedence.' =>
            'La clave necesita los permisos create y read. CARD_CHECKOUT_API_KEY en wp-config.php tiene prioridad.',
        'The order does not exist.' =>
            'El pedido no existe.',
        'The order is unknown.' =>
            'El pedido es desconocido.',
        'The payment could not be started. Please try again.' =>
            'No se pudo iniciar el pago. Inténtelo de nuevo.',
        'The payment expired or was canceled. Nothing was paid.' =>
            'El pago caducó o se canceló. No se pagó nada.',
        'The payment was checked.' =>
            'El pago se ha comprobado.',
        'The payout wallet is missing.' =>
            'Falta la cartera de cobro.',
        'The payout wallet must be 0x and 40 hexadecimal digits.' =>
            'La cartera de cobro debe ser 0x y 40 dígitos hexadecimales.',
        'The payout was refused. The operator of the service must look at the payment.' =>
            'La transferencia fue rechazada. El operador del servicio debe revisar el pago.',
        'The service address is missing.' =>
            'Falta la dirección del servicio.',
        'The service address must be https:// and a host, without a path.' =>
            'La dirección del servicio debe ser https:// y un host, sin ruta.',
        'The shop’s currency is not one of %s.' =>
            'La moneda de la tienda no es ninguna de %s.',
        'The signature is wrong.' =>
            'La firma es incorrecta.',
        'The test uses the saved settings, and accepts the deposit contracts that the service publishes.' =>
            'La prueba usa los ajustes guardados y acepta los contratos de depósito que publica el servicio.',
        'This order has no payment at card checkout.' =>
            'Este pedido no tiene ningún pago en card checkout.',
        'Title' =>
            'Título',
        'What customers see at the checkout.' =>
            'Lo que ven los clientes al pagar.',
        'You may not do this.' =>
            'No puede hacer esto.',
        'You pay by card on the next page, and then return to the shop.' =>
            'Pague con tarjeta en la página siguiente y vuelva después a la tienda.',
        'Your own address on Polygon (0x…).' =>
            'Su propia dirección en Polygon (0x…).',
    ],
];

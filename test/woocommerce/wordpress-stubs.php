<?php
/**
 * As much of WordPress and WooCommerce as the plugin calls, from their documentation and by memory: no code of theirs. Each
 * function checks what it is given, and one that is missing here ends the run. HTTP is real.
 */
declare(strict_types=1);

define('ABSPATH', __DIR__ . '/');
const DAY_IN_SECONDS = 86400;

function require_that(bool $is_so, string $what): void
{
    if (!$is_so) {
        throw new LogicException($what);
    }
}

/** The shop: what a database and a request would hold. */
final class Shop
{
    /** @var array<string, list<callable>> */
    public static array $hooks = [];
    /** @var array<string, mixed> */
    public static array $options = [];
    /** @var array<int, array<string, mixed>> orders as they are saved */
    public static array $saved = [];
    /** @var array<int, array<string, mixed>> as this request has read them */
    public static array $cache = [];
    /** @var list<string> */
    public static array $log = [];
    /** @var list<array{string, string}> */
    public static array $notices = [];
    /** @var list<array{url: string, arguments: array<string, mixed>}> */
    public static array $requests = [];
    /** @var array<string, string> the settings form */
    public static array $posted = [];
    /** @var list<string> what the settings page shows as errors */
    public static array $settings_errors = [];
    public static string $currency = 'EUR';
    public static string $url = 'https://shop.example';
    public static int $completions = 0;
    /** @var array<int, list<WC_Order_Refund>> what WooCommerce has recorded, by order */
    public static array $refunds = [];
    /** Total of the cart; null where WooCommerce has no cart, for example in the administration. */
    public static ?float $cart_total = null;
    /** Order of the payment page that is shown. */
    public static int $order_to_pay = 0;
    public static string $lock_answer = '1';
    /** @var (callable(): void)|null what another request does while this one waits for the lock */
    public static $meanwhile = null;

    public static function give_order(string $total = '25', string $currency = 'EUR'): int
    {
        $id = 101 + count(self::$saved);
        self::$saved[$id] = [
            'key' => 'wc_order_' . bin2hex(random_bytes(7)),
            'total' => $total,
            'currency' => $currency,
            'email' => 'ada@shop.example',
            'method' => 'card_checkout',
            'status' => 'pending',
            'meta' => [],
            'transaction' => '',
            'notes' => [],
        ];
        return $id;
    }
}

class OrderUtil
{
    public static function custom_orders_table_usage_is_enabled(): bool { return true; }
}
class_alias(OrderUtil::class, 'Automattic\WooCommerce\Utilities\OrderUtil');

class WC_Order
{
    /** @param array<string, mixed> $data */
    public function __construct(private readonly int $id, private array $data)
    {
    }

    public function get_id(): int { return $this->id; }
    public function get_order_key(): string { return $this->data['key']; }
    public function get_order_number(): string { return (string) $this->id; }
    public function get_total(): string { return $this->data['total']; }
    public function get_remaining_refund_amount(): string { return $this->data['total']; }
    public function get_currency(): string { return $this->data['currency']; }
    public function get_billing_email(): string { return $this->data['email']; }
    public function get_payment_method(): string { return $this->data['method']; }
    public function get_status(): string { return $this->data['status']; }
    public function get_customer_id(): int { return 0; }
    public function get_checkout_order_received_url(): string { return "https://shop.example/order-received/{$this->id}"; }
    public function get_edit_order_url(): string { return "https://shop.example/edit/{$this->id}"; }
    public function is_paid(): bool { return in_array($this->data['status'], ['processing', 'completed'], true); }

    public function get_meta(string $key): mixed
    {
        require_that(str_starts_with($key, '_'), "the meta key $key would be shown to whoever edits orders");
        return $this->data['meta'][$key] ?? '';
    }

    public function update_meta_data(string $key, string $value): void { $this->data['meta'][$key] = $value; }
    public function delete_meta_data(string $key): void { unset($this->data['meta'][$key]); }
    /** @return list<WC_Order_Refund> */
    public function get_refunds(): array { return Shop::$refunds[$this->id] ?? []; }

    public function save(): int
    {
        Shop::$saved[$this->id] = $this->data;
        Shop::$cache[$this->id] = $this->data;
        return $this->id;
    }

    public function update_status(string $status, string $note = ''): bool
    {
        require_that(in_array($status, ['pending', 'on-hold', 'failed', 'cancelled'], true), "status $status");
        $this->data['status'] = $status;
        if ($note !== '') {
            $this->data['notes'][] = $note;
        }
        return $this->save() > 0;
    }

    public function add_order_note(string $note): int
    {
        $this->data['notes'][] = $note;
        return $this->save();
    }

    public function payment_complete(string $transaction_id = ''): bool
    {
        if (in_array($this->data['status'], ['pending', 'on-hold', 'failed', 'cancelled'], true)) {
            Shop::$completions++;
            $this->data['status'] = 'processing';
            $this->data['transaction'] = $transaction_id;
            $this->save();
        }
        return true;
    }
}

final class WC_Order_Refund
{
    /** @var array<string, string> */
    private array $meta = [];
    public bool $is_paid_by_gateway = false;

    /** @param array<string, mixed> $arguments of wc_create_refund */
    public function __construct(public readonly array $arguments)
    {
    }

    public function get_meta(string $key): string { return $this->meta[$key] ?? ''; }
    public function update_meta_data(string $key, string $value): void { $this->meta[$key] = $value; }
    public function set_refunded_payment(bool $is_paid): void { $this->is_paid_by_gateway = $is_paid; }
    public function set_refunded_by(int $user_id): void {}
}

/** @param array<string, mixed> $arguments */
function wc_create_refund(array $arguments): WC_Order_Refund|WP_Error
{
    $id = $arguments['order_id'];
    $refunded = array_sum(array_map(static fn ($refund) => (float) $refund->arguments['amount'], Shop::$refunds[$id] ?? []));
    $left = (float) Shop::$saved[$id]['total'] - $refunded;
    if ($arguments['amount'] < 0 || $arguments['amount'] > $left) {
        return new WP_Error('error', 'Invalid refund amount.');
    }
    $refund = new WC_Order_Refund($arguments);
    foreach (Shop::$hooks['woocommerce_create_refund'] ?? [] as [$do, $accepted]) {
        $do(...array_slice([$refund, $arguments], 0, $accepted));
    }
    if ($arguments['refund_payment']) {
        $result = card_checkout_gateway()->process_refund($id, $arguments['amount'], $arguments['reason']);
        if ($result instanceof WP_Error) {
            return $result;
        }
    }
    Shop::$refunds[$id][] = $refund;
    if ($arguments['amount'] == $left) {
        Shop::$cache[$id]['status'] = 'refunded';
        Shop::$saved[$id]['status'] = 'refunded';
    }
    return $refund;
}

/** Settings and what the checkout asks of every gateway. */
abstract class WC_Payment_Gateway
{
    public string $id = '';
    public string $title = '';
    public string $description = '';
    public string $method_title = '';
    public string $method_description = '';
    public bool $has_fields = false;
    /** @var list<string> */
    public array $supports = [];
    /** @var array<string, array<string, string>> */
    public array $form_fields = [];
    /** @var array<string, string> */
    public array $settings = [];
    /** @var list<string> */
    public array $errors = [];

    public function init_settings(): void
    {
        $this->settings = Shop::$options["woocommerce_{$this->id}_settings"] ?? [];
    }

    public function get_option(string $key): mixed
    {
        require_that(isset($this->form_fields[$key]), "there is no setting $key");
        return $this->settings[$key] ?? $this->form_fields[$key]['default'] ?? '';
    }

    public function is_available(): bool { return $this->get_option('enabled') === 'yes'; }

    protected function get_order_total(): float
    {
        return (float) (Shop::$order_to_pay > 0 ? wc_get_order(Shop::$order_to_pay)->get_total() : Shop::$cart_total);
    }

    /** @return list<string> */
    public function get_errors(): array { return $this->errors; }
    public function get_field_key(string $key): string { return "woocommerce_{$this->id}_$key"; }

    public function process_admin_options(): bool
    {
        foreach (array_keys($this->form_fields) as $key) {
            $validate = [$this, "validate_{$key}_field"];
            try {
                $value = Shop::$posted[$key] ?? '';
                $this->settings[$key] = is_callable($validate) ? $validate($key, $value) : $value;
            } catch (Exception $exception) {
                $this->errors[] = $exception->getMessage();
            }
        }
        Shop::$options["woocommerce_{$this->id}_settings"] = $this->settings;
        return true;
    }
}

final class WP_REST_Response
{
    public function __construct(private mixed $data) {}
    public function get_data(): mixed { return $this->data; }
    public function set_data(mixed $data): void { $this->data = $data; }
}

final class WC_Meta_Data
{
    public function __construct(private readonly array $data) {}
    public function get_data(): array { return $this->data; }
}

final class WC_Admin_Settings
{
    public static function add_error(string $text): void { Shop::$settings_errors[] = $text; }
}

final class WP_Error
{
    public function __construct(string $code, private readonly string $message) {}
    public function get_error_message(): string { return $this->message; }
}

$wpdb = new class {
    public string $prefix = 'wp_';

    public function prepare(string $query, mixed ...$values): string
    {
        require_that(preg_match_all('/%[sd]/', $query) === count($values), "values for $query");
        return vsprintf(str_replace('%s', "'%s'", $query), array_map(
            static fn ($value) => is_string($value) ? addslashes($value) : $value,
            $values
        ));
    }

    public function get_var(string $query): string
    {
        if (str_starts_with($query, 'SELECT GET_LOCK(')) {
            // MySQL takes no longer name.
            preg_match("/'([^']+)'/", $query, $match);
            require_that(strlen($match[1] ?? '') <= 64, 'the name of the lock is too long');
            if (Shop::$meanwhile !== null) {
                (Shop::$meanwhile)();
            }
            return Shop::$lock_answer;
        }
        require_that(str_starts_with($query, 'SELECT RELEASE_LOCK('), "unknown query $query");
        return '1';
    }
};

function wc_get_order(int $id): WC_Order|false
{
    $data = Shop::$cache[$id] ?? Shop::$saved[$id] ?? null;
    if ($data === null) {
        return false;
    }
    Shop::$cache[$id] = $data;
    return new WC_Order($id, $data);
}

/** @param array<string, mixed> $query */
function wc_get_orders(array $query): array
{
    $known = ['limit', 'meta_query', 'status', 'date_created', 'orderby', 'return'];
    require_that(array_diff(array_keys($query), $known) === [], 'unknown arguments of wc_get_orders');
    require_that($query['limit'] > 0, 'a bounded list');
    $condition = $query['meta_query'][0];
    $key = $condition['key'];
    $found = array_filter(Shop::$saved, static fn ($order) => isset($order['meta'][$key])
        && ($condition === ['key' => $key, 'compare' => 'EXISTS'] || $order['meta'][$key] === $condition['value'])
        && (!isset($query['status']) || in_array($order['status'], str_replace('wc-', '', $query['status']), true)));
    $ids = array_slice(array_keys($found), 0, $query['limit']);
    return ($query['return'] ?? 'objects') === 'ids' ? $ids : array_map('wc_get_order', $ids);
}

/** @return array<string, string> */
function wc_get_order_statuses(): array
{
    $statuses = ['pending', 'processing', 'on-hold', 'completed', 'cancelled', 'refunded', 'failed', 'checkout-draft'];
    return array_combine(array_map(static fn ($status) => "wc-$status", $statuses), $statuses);
}

function wp_cache_flush_runtime(): bool
{
    Shop::$cache = [];
    return true;
}

function add_action(string $hook, callable|string|array $do, int $priority = 10, int $accepted = 1): bool
{
    require_that(preg_match('/^[a-z_]+(?:card-checkout\/card-checkout\.php)?$/', $hook) === 1, "hook $hook");
    Shop::$hooks[$hook][] = [$do, $accepted];
    return true;
}

function remove_action(string $hook, callable $do): bool
{
    Shop::$hooks[$hook] = array_values(array_filter(Shop::$hooks[$hook], static fn ($one) => $one[0] !== $do));
    return true;
}

function add_filter(string $hook, callable|string|array $do, int $priority = 10, int $accepted = 1): bool
{
    return add_action($hook, $do, $priority, $accepted);
}

/** Runs what hangs on a hook; a filter's result is the last one's. */
function run_hook(string $hook, mixed ...$values): mixed
{
    require_that(isset(Shop::$hooks[$hook]), "nothing hangs on $hook");
    $result = $values[0] ?? null;
    foreach (Shop::$hooks[$hook] as [$do, $accepted]) {
        $result = $do(...array_slice($values, 0, $accepted));
    }
    return $result;
}

function register_activation_hook(string $file, callable|string $do): void { add_action('activate', $do); }
function register_deactivation_hook(string $file, callable|string $do): void { add_action('deactivate', $do); }
function wp_next_scheduled(string $hook): int|false { return Shop::$options["cron $hook"] ?? false; }

function wp_schedule_event(int $at, string $recurrence, string $hook): bool
{
    require_that(in_array($recurrence, ['hourly', 'twicedaily', 'daily', 'weekly'], true), $recurrence);
    Shop::$options["cron $hook"] = $at;
    return true;
}

function wp_clear_scheduled_hook(string $hook): int
{
    unset(Shop::$options["cron $hook"]);
    return 1;
}

function __(string $text, string $domain = 'default'): string
{
    require_that($domain === 'card-checkout', "the text domain of: $text");
    return $text;
}

function esc_textarea(string $text): string { return htmlspecialchars($text, ENT_QUOTES); }
function esc_attr(string $text): string { return htmlspecialchars($text, ENT_QUOTES); }
/** @param list<string>|null $protocols */
function esc_url(string $url, ?array $protocols = null): string
{
    $scheme = (string) parse_url($url, PHP_URL_SCHEME);
    return in_array($scheme, $protocols ?? ['http', 'https'], true) ? htmlspecialchars($url, ENT_QUOTES) : '';
}
/** @return array<string, array<string, bool>> */
function wp_kses_allowed_html(string $context): array { return ['p' => []]; }
/** @return list<string> */
function wp_allowed_protocols(): array { return ['http', 'https']; }
function set_transient(string $key, string $value, int $seconds): bool
{
    require_that($seconds > 0, 'a transient that ends');
    Shop::$options["transient $key"] = $value;
    return true;
}
function get_transient(string $key): string|false { return Shop::$options["transient $key"] ?? false; }
function delete_transient(string $key): bool
{
    unset(Shop::$options["transient $key"]);
    return true;
}
function get_bloginfo(string $show): string { return 'Tea &amp; Biscuits'; }
function wp_specialchars_decode(string $text, int $quotes): string { return htmlspecialchars_decode($text, $quotes); }
function wp_kses_post(string $html): string { return $html; }
function plugin_basename(string $file): string { return 'card-checkout/' . basename($file); }
function load_plugin_textdomain(string $domain, bool $deprecated, string $path): bool { return true; }
function admin_url(string $path): string { return "https://shop.example/wp-admin/$path"; }
function wp_nonce_url(string $url, string $action): string { return add_query_arg(['_wpnonce' => md5($action)], $url); }
function get_current_user_id(): int { return 0; }
function get_query_var(string $name): string { return $name === 'order-pay' && Shop::$order_to_pay > 0 ? (string) Shop::$order_to_pay : ''; }
function wp_salt(string $scheme): string { return "the salt of $scheme"; }
function wc_get_page_permalink(string $page): string { return "https://shop.example/$page"; }
function esc_html(string $text): string { return htmlspecialchars($text, ENT_QUOTES); }
function esc_html__(string $text, string $domain = 'default'): string { return esc_html(__($text, $domain)); }
function absint(mixed $value): int { return abs((int) $value); }
function wp_unslash(string $value): string { return stripslashes($value); }
function sanitize_text_field(string $text): string { return trim(strip_tags(preg_replace('/[\r\n\t ]+/', ' ', $text))); }
function untrailingslashit(string $text): string { return rtrim($text, '/\\'); }
function wp_parse_url(string $url): array|false { return parse_url($url); }
function get_woocommerce_currency(): string { return Shop::$currency; }
function get_option(string $name, mixed $default = false): mixed { return Shop::$options[$name] ?? $default; }
function update_option(string $name, mixed $value, bool $autoload): bool
{
    require_that(!$autoload, "$name is loaded with every page");
    Shop::$options[$name] = $value;
    return true;
}

function wp_json_encode(mixed $value): string|false { return json_encode($value); }
function plugins_url(string $path, string $file): string { return 'https://shop.example/wp-content/plugins/' . basename(dirname($file)) . "/$path"; }

/** @param array<string, scalar> $arguments */
function add_query_arg(array $arguments, string $url): string
{
    return $url . (str_contains($url, '?') ? '&' : '?') . http_build_query($arguments);
}

/** @param list<string> $dependencies */
function wp_register_script(string $handle, string $src, array $dependencies, string $version, bool $in_footer): bool
{
    require_that(str_starts_with($src, 'https://shop.example/') && $in_footer, "script $handle");
    $file = dirname(__DIR__, 2) . '/plugins/woocommerce/' . substr($src, strlen('https://shop.example/wp-content/plugins/'));
    require_that(is_file($file), "there is no $src");
    return true;
}

function wc_add_notice(string $text, string $type): void
{
    require_that(in_array($type, ['success', 'error', 'notice'], true), "notice of type $type");
    Shop::$notices[] = [$text, $type];
}

function wc_get_logger(): object
{
    return new class {
        /** @param array<string, string> $context */
        public function warning(string $message, array $context): void
        {
            require_that(($context['source'] ?? '') !== '', 'a source for the log');
            Shop::$log[] = $message;
        }
    };
}

function WC(): object
{
    return new class {
        public ?object $cart;

        public function __construct()
        {
            $this->cart = Shop::$cart_total === null ? null : (object) ['total' => Shop::$cart_total];
        }

        public function api_request_url(string $name): string { return Shop::$url . "/?wc-api=$name"; }
    };
}

/** @param array<string, mixed> $arguments */
function wp_remote_request(string $url, array $arguments): array|WP_Error
{
    $known = ['method', 'headers', 'timeout', 'redirection', 'limit_response_size', 'body'];
    require_that(array_diff(array_keys($arguments), $known) === [], 'unknown arguments of wp_remote_request');
    require_that($arguments['timeout'] < 10 && $arguments['redirection'] === 0, 'a short time and no redirects');
    require_that(is_string($arguments['body'] ?? ''), 'a body of text');
    Shop::$requests[] = ['url' => $url, 'arguments' => $arguments];
    $headers = [];
    foreach ($arguments['headers'] as $name => $value) {
        $headers[] = "$name: $value";
    }
    $context = stream_context_create(['http' => [
        'method' => $arguments['method'],
        'header' => $headers,
        'content' => $arguments['body'] ?? '',
        'timeout' => $arguments['timeout'],
        'ignore_errors' => true,
        'follow_location' => 0,
    ]]);
    $answer = @fopen($url, 'r', false, $context);
    if ($answer === false) {
        return new WP_Error('http_request_failed', 'connection refused');
    }
    $status = stream_get_meta_data($answer)['wrapper_data'][0];
    return ['code' => (int) explode(' ', $status)[1], 'body' => stream_get_contents($answer)];
}

function is_wp_error(mixed $value): bool { return $value instanceof WP_Error; }
/** @param array<string, mixed> $answer */
function wp_remote_retrieve_response_code(array $answer): int { return $answer['code']; }
/** @param array<string, mixed> $answer */
function wp_remote_retrieve_body(array $answer): string { return $answer['body']; }

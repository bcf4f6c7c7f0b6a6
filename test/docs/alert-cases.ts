/** Series in which each alert of docs/monitoring/alerts.yml fires and then resolves, as `promtool test rules` reads them. */
export interface AlertCase {
  readonly alert: string;
  /** One value a minute: `a+bxn` begins at a and adds b, n times. */
  readonly series: Readonly<Record<string, string>>;
  readonly firesAtMinute: number;
  readonly resolvedAtMinute: number;
  /** Labels of the firing alert besides `severity`. */
  readonly labels?: Readonly<Record<string, string>>;
}

const requests = 'card_checkout_request_duration_seconds';
const endpoint = 'endpoint="rpc.example"';
/** Events for 20 minutes, then none. */
const burst = '0+5x20 100x80';

const unit = (name: string) => `node_systemd_unit_state{name="card-checkout-${name}.service",state="failed"}`;
const unitLabels = (name: string) => ({ name: `card-checkout-${name}.service`, state: 'failed' });

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'CardCheckoutDown',
    series: { 'up{job="card-checkout"}': '1x5 0x10 1x20' },
    firesAtMinute: 10,
    resolvedAtMinute: 20,
    labels: { job: 'card-checkout' },
  },
  {
    // The target disappears, as when service discovery loses it.
    alert: 'CardCheckoutDown',
    series: { 'up{job="card-checkout"}': '1x5 _x20 1x20' },
    firesAtMinute: 20,
    resolvedAtMinute: 40,
    labels: { job: 'card-checkout' },
  },
  {
    alert: 'CardCheckoutServerErrors',
    series: { [`${requests}_count{status="200"}`]: '0+90x100', [`${requests}_count{status="500"}`]: burst },
    firesAtMinute: 15,
    resolvedAtMinute: 40,
  },
  {
    alert: 'CardCheckoutSlow',
    series: {
      [`${requests}_bucket{route="/api/v1/wallet",le="0.5"}`]: '0+1x30 30+100x70',
      [`${requests}_bucket{route="/api/v1/wallet",le="2.5"}`]: '0+100x100',
      [`${requests}_bucket{route="/api/v1/wallet",le="+Inf"}`]: '0+100x100',
    },
    firesAtMinute: 25,
    resolvedAtMinute: 50,
  },
  {
    alert: 'CardCheckoutChainStalled',
    // One of two API processes has lost the database and knows an older block.
    series: {
      'card_checkout_scanned_block_age_seconds{instance="api-1"}': '10x5 60+60x15 10x20',
      'card_checkout_scanned_block_age_seconds{instance="api-2"}': '10x5 300+60x15 10x20',
    },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
  },
  {
    // No process tells any more, or none ever scanned.
    alert: 'CardCheckoutChainStalled',
    series: { card_checkout_scanned_block_age_seconds: '10x5 _x20 10x20' },
    firesAtMinute: 20,
    resolvedAtMinute: 40,
  },
  {
    alert: 'CardCheckoutChainBehind',
    series: { card_checkout_scanned_block: '100x20 1000x20', card_checkout_latest_block: '1000x40' },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
  },
  {
    // An hour ahead, then right.
    alert: 'CardCheckoutClockOff',
    series: { card_checkout_clock_seconds: '3600+60x20 1260+60x20' },
    firesAtMinute: 10,
    resolvedAtMinute: 30,
  },
  {
    alert: 'CardCheckoutRelayerLowBalance',
    series: {
      'card_checkout_relayer_balance_pol{relayer="0x1"}': '2x20 20x20',
      'card_checkout_relayer_low_balance_pol{relayer="0x1"}': '3x40',
    },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
    labels: { relayer: '0x1' },
  },
  {
    alert: 'CardCheckoutManualRequired',
    series: { 'card_checkout_unsettled_payments{forward_status="manual_required"}': '0x5 1x20 0x20' },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
  },
  {
    alert: 'CardCheckoutReleaseOverdue',
    series: { card_checkout_release_overdue_seconds: '0+60x45 0x20' },
    firesAtMinute: 40,
    resolvedAtMinute: 50,
  },
  {
    alert: 'CardCheckoutTaskFails',
    series: { 'card_checkout_task_failures_total{task="watch"}': burst },
    firesAtMinute: 20,
    resolvedAtMinute: 60,
    labels: { task: 'watch' },
  },
  {
    alert: 'CardCheckoutWebhooksFail',
    series: {
      'card_checkout_webhooks_total{outcome="failed"}': burst,
      'card_checkout_webhooks_total{outcome="delivered"}': '0+1x100',
    },
    firesAtMinute: 20,
    resolvedAtMinute: 80,
  },
  {
    alert: 'CardCheckoutChainInconsistent',
    series: { card_checkout_chain_rewinds_total: '0x5 1x95' },
    firesAtMinute: 10,
    resolvedAtMinute: 90,
  },
  {
    // Two hosts report different final blocks.
    alert: 'CardCheckoutChainInconsistent',
    series: { [`card_checkout_endpoint_disagreements_total{kind="hash",${endpoint}}`]: '0x5 1x95' },
    firesAtMinute: 10,
    resolvedAtMinute: 90,
  },
  {
    // The second scan found logs that the other one of two hosts lacks: once, while the watcher goes on.
    alert: 'CardCheckoutChainInconsistent',
    series: { [`card_checkout_endpoint_disagreements_total{kind="disputed",${endpoint}}`]: '0x5 1x95' },
    firesAtMinute: 10,
    resolvedAtMinute: 90,
  },
  {
    // One host lacks logs that the others show.
    alert: 'CardCheckoutChainInconsistent',
    series: { [`card_checkout_endpoint_disagreements_total{kind="omitted",${endpoint}}`]: '0x5 1x95' },
    firesAtMinute: 10,
    resolvedAtMinute: 90,
  },
  {
    alert: 'CardCheckoutUnconfirmed',
    series: { [`card_checkout_endpoint_disagreements_total{kind="unconfirmed",${endpoint}}`]: burst },
    firesAtMinute: 15,
    resolvedAtMinute: 40,
  },
  {
    alert: 'CardCheckoutEndpointLags',
    series: { [`card_checkout_endpoint_lag_blocks{${endpoint}}`]: '40x20 2x20' },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
    labels: { endpoint: 'rpc.example' },
  },
  {
    alert: 'CardCheckoutEndpointFails',
    series: {
      [`card_checkout_endpoint_calls_total{outcome="answered",${endpoint}}`]: '0+20x5 100+5x20 200+20x40',
      [`card_checkout_endpoint_calls_total{outcome="slow",${endpoint}}`]: '0x5 0+20x20 400x40',
    },
    firesAtMinute: 22,
    resolvedAtMinute: 45,
    labels: { endpoint: 'rpc.example' },
  },
  {
    alert: 'CardCheckoutDeploymentUnverified',
    series: { card_checkout_deployment_verified: '0x25 1x20' },
    firesAtMinute: 20,
    resolvedAtMinute: 35,
  },
  {
    alert: 'CardCheckoutUnexplainedBalance',
    series: { card_checkout_unexplained_balances_total: '0x5 1x95' },
    firesAtMinute: 10,
    resolvedAtMinute: 90,
  },
  {
    alert: 'CardCheckoutRelayerRunsDry',
    series: { 'card_checkout_relayer_balance_pol{relayer="0x1"}': '10-0.01x400 500x400' },
    firesAtMinute: 390,
    resolvedAtMinute: 795,
    labels: { relayer: '0x1' },
  },
  {
    alert: 'CardCheckoutProviderCircuitOpen',
    series: { 'card_checkout_provider_circuit_open{provider="moonpay"}': '1x20 0x20' },
    firesAtMinute: 18,
    resolvedAtMinute: 30,
    labels: { provider: 'moonpay' },
  },
  {
    alert: 'CardCheckoutBackupMissing',
    series: { [unit('backup')]: '0x5 1x15 0x20' },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
    labels: unitLabels('backup'),
  },
  {
    // Nothing was triggered for 26 hours, then it was.
    alert: 'CardCheckoutBackupMissing',
    series: {
      'node_systemd_timer_last_trigger_seconds{name="card-checkout-backup.timer"}': '0x1600 96000x100',
    },
    firesAtMinute: 1590,
    resolvedAtMinute: 1650,
    labels: { name: 'card-checkout-backup.timer' },
  },
  {
    alert: 'CardCheckoutVerifyFailed',
    series: { [unit('verify')]: '0x5 1x15 0x20' },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
    labels: unitLabels('verify'),
  },
  {
    // Nothing was triggered for 26 hours, then it was.
    alert: 'CardCheckoutVerifyFailed',
    series: {
      'node_systemd_timer_last_trigger_seconds{name="card-checkout-verify.timer"}': '0x1600 96000x100',
    },
    firesAtMinute: 1590,
    resolvedAtMinute: 1650,
    labels: { name: 'card-checkout-verify.timer' },
  },
  {
    alert: 'CardCheckoutDiskFills',
    series: {
      'node_filesystem_avail_bytes{mountpoint="/var"}': '5x20 50x20',
      'node_filesystem_size_bytes{mountpoint="/var"}': '100x40',
    },
    firesAtMinute: 15,
    resolvedAtMinute: 30,
    labels: { mountpoint: '/var' },
  },
];

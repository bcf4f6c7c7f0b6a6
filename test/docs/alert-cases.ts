/**
 * Series in which each alert of docs/monitoring/alerts.yml fires and then resolves, as `promtool test rules` reads them. Series by
 * name: one value a minute, where `a+bxn` begins at a and adds b, n times, and `_` is none.
 */
export type AlertCase = readonly [
  alert: string,
  firesAtMinute: number,
  resolvedAtMinute: number,
  series: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
];

/** An alert, the minutes in which it fires and is resolved, and its labels besides `severity`; below it the series. */
const cases = `
CardCheckoutDown 10 20 job=card-checkout
  up{job="card-checkout"} 1x5 0x10 1x20
CardCheckoutDown 20 40 job=card-checkout
  up{job="card-checkout"} 1x5 _x20 1x20
CardCheckoutServerErrors 15 40
  card_checkout_request_duration_seconds_count{status="200"} 0+90x100
  card_checkout_request_duration_seconds_count{status="500"} 0+5x20 100x80
CardCheckoutSlow 25 50
  card_checkout_request_duration_seconds_bucket{route="/api/v1/wallet",le="0.5"} 0+1x30 30+100x70
  card_checkout_request_duration_seconds_bucket{route="/api/v1/wallet",le="2.5"} 0+100x100
  card_checkout_request_duration_seconds_bucket{route="/api/v1/wallet",le="+Inf"} 0+100x100
CardCheckoutChainStalled 15 30
  card_checkout_scanned_block_age_seconds{instance="api-1"} 10x5 60+60x15 10x20
  card_checkout_scanned_block_age_seconds{instance="api-2"} 10x5 300+60x15 10x20
CardCheckoutChainStalled 20 40
  card_checkout_scanned_block_age_seconds 10x5 _x20 10x20
CardCheckoutChainBehind 15 30
  card_checkout_scanned_block 100x20 1000x20
  card_checkout_latest_block 1000x40
CardCheckoutClockOff 10 30
  card_checkout_clock_seconds 3600+60x20 1260+60x20
CardCheckoutRelayerLowBalance 15 30 relayer=0x1
  card_checkout_relayer_balance_pol{relayer="0x1"} 2x20 20x20
  card_checkout_relayer_low_balance_pol{relayer="0x1"} 3x40
CardCheckoutSignerFails 15 30 relayer=0x1
  card_checkout_relayer_signer_failing{relayer="0x1"} 0x5 1x20 0x20
CardCheckoutManualRequired 15 30
  card_checkout_unsettled_payments{forward_status="manual_required"} 0x5 1x20 0x20
CardCheckoutReleaseOverdue 40 50
  card_checkout_release_overdue_seconds 0+60x45 0x20
CardCheckoutTaskFails 20 60 task=watch
  card_checkout_task_failures_total{task="watch"} 0+5x20 100x80
CardCheckoutWebhooksFail 20 80
  card_checkout_webhooks_total{outcome="failed"} 0+5x20 100x80
  card_checkout_webhooks_total{outcome="delivered"} 0+1x100
CardCheckoutNoPayments 730 760
  card_checkout_webhooks_total{outcome="delivered"} 5x740 6x40
CardCheckoutWebhooksWait 25 50
  card_checkout_webhooks_waiting 150x40 10x20
CardCheckoutDatabaseBusy 15 30 instance=a state=waiting
  card_checkout_database_calls{state="waiting",instance="a"} 3x20 0x20
  card_checkout_database_calls{state="waiting",instance="b"} 9 0 9 0 9 0 9 0 9 0 9 0 9 0 9 0x30
  card_checkout_database_calls{state="running",instance="a"} 10x40
CardCheckoutWalGrows 25 40 part=wal
  card_checkout_database_bytes{part="wal"} 300000000x30 60000000x20
  card_checkout_database_bytes{part="data"} 9000000000x50
CardCheckoutCertificateExpires 38 60 host=pay.example.com
  card_checkout_certificate_expiry_timestamp_seconds{host="pay.example.com"} 606000x40 8380800x40
CardCheckoutCertificateExpires 30 60 host=pay.example.com
  card_checkout_certificate_expiry_timestamp_seconds{host="pay.example.com"} 60x40 8380800x40
CardCheckoutVersionsDiffer 80 100
  card_checkout_build_info{version="0.1.0"} 1x90
  card_checkout_build_info{version="0.2.0"} 1x120
CardCheckoutChainInconsistent 10 90
  card_checkout_chain_rewinds_total 0x5 1x95
CardCheckoutChainInconsistent 10 90
  card_checkout_endpoint_disagreements_total{kind="hash",endpoint="rpc.example"} 0x5 1x95
CardCheckoutChainInconsistent 10 90
  card_checkout_endpoint_disagreements_total{kind="disputed",endpoint="rpc.example"} 0x5 1x95
CardCheckoutChainInconsistent 10 90
  card_checkout_endpoint_disagreements_total{kind="omitted",endpoint="rpc.example"} 0x5 1x95
CardCheckoutUnconfirmed 15 40
  card_checkout_endpoint_disagreements_total{kind="unconfirmed",endpoint="rpc.example"} 0+5x20 100x80
CardCheckoutEndpointLags 15 30 endpoint=rpc.example
  card_checkout_endpoint_lag_blocks{endpoint="rpc.example"} 40x20 2x20
CardCheckoutEndpointFails 22 45 endpoint=rpc.example
  card_checkout_endpoint_calls_total{outcome="answered",endpoint="rpc.example"} 0+20x5 100+5x20 200+20x40
  card_checkout_endpoint_calls_total{outcome="slow",endpoint="rpc.example"} 0x5 0+20x20 400x40
CardCheckoutDeploymentUnverified 20 35
  card_checkout_deployment_verified 0x25 1x20
CardCheckoutUnexplainedBalance 10 90
  card_checkout_unexplained_balances_total 0x5 1x95
CardCheckoutRelayerRunsDry 390 795 relayer=0x1
  card_checkout_relayer_balance_pol{relayer="0x1"} 10-0.01x400 500x400
CardCheckoutProviderCircuitOpen 18 30 provider=moonpay
  card_checkout_provider_circuit_open{provider="moonpay"} 1x20 0x20
CardCheckoutProviderDrift 10 30 provider=stripe
  card_checkout_provider_drift{provider="stripe"} 0x5 1x15 0x20
CardCheckoutBackupMissing 15 30 name=card-checkout-backup.service state=failed
  node_systemd_unit_state{name="card-checkout-backup.service",state="failed"} 0x5 1x15 0x20
CardCheckoutBackupMissing 1590 1650 name=card-checkout-backup.timer
  node_systemd_timer_last_trigger_seconds{name="card-checkout-backup.timer"} 0x1600 96000x100
CardCheckoutCopyStopped 25 45 instance=a name=card-checkout-copy.service state=active
  node_systemd_unit_state{instance="a",name="card-checkout-copy.service",state="active"} 1x10 0 0 0 1 0x16 1x20
  node_systemd_unit_state{instance="never set up",name="card-checkout-copy.service",state="active"} 0x50
CardCheckoutVerifyFailed 15 30 name=card-checkout-verify.service state=failed
  node_systemd_unit_state{name="card-checkout-verify.service",state="failed"} 0x5 1x15 0x20
CardCheckoutVerifyFailed 1590 1650 name=card-checkout-verify.timer
  node_systemd_timer_last_trigger_seconds{name="card-checkout-verify.timer"} 0x1600 96000x100
CardCheckoutDiskFills 15 30 mountpoint=/var
  node_filesystem_avail_bytes{mountpoint="/var"} 5x20 50x20
  node_filesystem_size_bytes{mountpoint="/var"} 100x40
CardCheckoutDiskFills 15 30 folder=/data
  card_checkout_disk_free_ratio{folder="/data"} 0.05x20 0.5x20
`;

export const alertCases: readonly AlertCase[] = cases
  .trim()
  .split(/\n(?=\w)/)
  .map((text) => {
    const [head = '', ...series] = text.split(/\n\s*/);
    const [alert = '', firesAt, resolvedAt, ...labels] = head.split(' ');
    const named = series.map((line) => [line.replace(/ .*/, ''), line.replace(/^\S+ /, '')]);
    return [
      alert,
      Number(firesAt),
      Number(resolvedAt),
      Object.fromEntries(named),
      Object.fromEntries(labels.map((label) => label.split('='))),
    ];
  });

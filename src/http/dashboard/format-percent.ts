const format = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });

/** Basis points as people read them: "2.5%". */
export function formatPercent(basisPoints: number): string {
  return format.format(basisPoints / 10_000);
}

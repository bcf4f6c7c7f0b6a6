import { describe, expect, it } from 'vitest';
import { median, orderOfRound, pairedRatio, type Sample } from './statistics.ts';

function sample(label: string, round: number, requestsPerSecond: number): Sample {
  return {
    label,
    round,
    requestsPerSecond,
    requests: requestsPerSecond,
    rowsPerCommit: null,
    cpuMicrosecondsPerRequest: 1,
    p50Microseconds: 1,
    p99Microseconds: 1,
  };
}

const rate = ({ requestsPerSecond }: Sample) => requestsPerSecond;

describe('the statistics of the bench', () => {
  it('take the middle value, or the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 1, 2, 4])).toBe(3);
    expect(() => median([])).toThrow(RangeError);
  });

  it('compare within rounds only: a machine that gets ten times slower changes no ratio', () => {
    const samples = [
      sample('service', 0, 600),
      sample('ceiling', 0, 1_000),
      sample('ceiling', 1, 100),
      sample('service', 1, 60),
      sample('ceiling', 2, 1_000),
      sample('service', 2, 300),
    ];
    expect(pairedRatio(samples, 'service', 'ceiling', rate)).toEqual({
      median: 0.6,
      lowest: 0.3,
      highest: 0.6,
    });
  });

  it('refuse to compare contenders that did not meet in every round', () => {
    expect(() => pairedRatio([sample('a', 0, 1)], 'a', 'b', rate)).toThrow('not paired');
    expect(() => pairedRatio([sample('a', 0, 1), sample('b', 1, 1)], 'a', 'b', rate)).toThrow('no round 0');
  });

  it('turn the order round every second time', () => {
    expect([0, 1, 2].map((round) => orderOfRound(['a', 'b'], round).join(''))).toEqual(['ab', 'ba', 'ab']);
  });
});

import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { beforeEach, expect, it } from 'vitest';
import { createRequestLog, type RequestLog } from './request-log.ts';

let clockMs: number;
let lines: string[];
let log: RequestLog;

beforeEach(() => {
  clockMs = 0;
  lines = [];
  const write = (level: string) => (_fields: object, message: string) => lines.push(`${level} ${message}`);
  const logger = { info: write('info'), warn: write('warn') } as unknown as FastifyBaseLogger;
  log = createRequestLog(logger, null, () => clockMs);
});

function complete(elapsedTime = 1): void {
  const request = { method: 'GET', routeOptions: { url: '/' } } as unknown as FastifyRequest;
  log.completed(request, { elapsedTime, statusCode: 200 } as FastifyReply);
}

/** So many requests, evenly within a second. */
function completeInASecond(requests: number): void {
  for (let index = 0; index < requests; index++) {
    complete();
    clockMs += 1_000 / requests;
  }
}

it('logs one request in a hundred', () => {
  completeInASecond(500);
  expect(lines).toEqual(Array.from({ length: 5 }, () => 'info request (sample)'));
});

it('logs ten requests a second at most, however many there are', () => {
  completeInASecond(50_000);
  expect(lines).toHaveLength(10);
});

it('logs every slow request, however many there are', () => {
  for (let index = 0; index < 500; index++) complete(1_000);
  expect(lines).toEqual(Array.from({ length: 500 }, () => 'warn slow request'));
});

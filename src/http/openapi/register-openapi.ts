import type { FastifyInstance } from 'fastify';
import { createConstantAnswer } from '../compression.ts';
import { createOpenApiDocument } from './create-openapi-document.ts';

/** `GET /openapi.json`: the interface for programs, made once. */
export function registerOpenApi(server: FastifyInstance, { baseUrl }: { readonly baseUrl: string }): void {
  const document = createConstantAnswer(Buffer.from(JSON.stringify(createOpenApiDocument(baseUrl))));
  server.get('/openapi.json', { exposeHeadRoute: true }, (_request, reply) => {
    // Public, and read by tools that run in a browser.
    reply.header('cache-control', 'public, max-age=300').header('access-control-allow-origin', '*');
    return document.send(reply.type('application/json; charset=utf-8'));
  });
}

#!/usr/bin/env node
// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** Serves one account to an agent over standard input and output. */
import { createClient } from '@card-checkout/sdk';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createServer } from './server.js';

function required(name, meaning) {
  const value = process.env[name]?.trim();
  if (value) return value;
  // Standard output is reserved for the protocol.
  console.error(`${name} is not set: ${meaning}`);
  process.exit(1);
}

const baseUrl = required('CARD_CHECKOUT_URL', 'the root of the service, such as https://pay.example.com');
const apiKey = required('CARD_CHECKOUT_KEY', 'an API key with the scopes that the agent may use');

const server = createServer({
  client: createClient({ apiKey, baseUrl }),
  baseUrl,
  payoutAddress: process.env.CARD_CHECKOUT_PAYOUT_ADDRESS?.trim() || null,
  callback: process.env.CARD_CHECKOUT_CALLBACK?.trim() || null,
});
await server.connect(new StdioServerTransport());

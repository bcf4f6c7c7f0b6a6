// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { Module } from '@medusajs/framework/utils';
import CardCheckoutService from './service.js';

export default Module('cardCheckout', { service: CardCheckoutService });

import { openShop } from '../shop.js';

// Shared by all routes of this process. `followEvents` needs a long-lived process.
export const shop = openShop();

import { openShop } from '../shop.js';

// One for all routes of this process; `followEvents` belongs into a process that lives as long as the shop.
export const shop = openShop();

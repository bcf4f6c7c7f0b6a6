/** Payment from a wallet, in addition to `follow-payment.js`: one button per wallet in the browser (EIP-6963). */

/** @typedef {{ request(call: { method: string, params?: unknown[] }): Promise<unknown> }} Wallet */
/** @typedef {CustomEvent<{ info: { uuid: string, name: string }, provider: Wallet }>} Announcement */

/** Maximum number of wallets shown. Any extension can announce wallets, so neither count nor names are trusted. */
const mostWallets = 6;
const longestWalletName = 40;
/** @type {Map<string, { name: string, wallet: Wallet }>} */
const walletsById = new Map();

addEventListener('eip6963:announceProvider', (event) => {
  const { info, provider } = /** @type {Announcement} */ (event).detail;
  if (walletsById.size >= mostWallets || walletsById.has(info.uuid)) return;
  walletsById.delete('');
  walletsById.set(info.uuid, { name: String(info.name).slice(0, longestWalletName), wallet: provider });
  offerWallets();
});
document.addEventListener('checkout:shown', offerWallets);
offerWallets();
dispatchEvent(new Event('eip6963:requestProvider'));
// Older wallets do not announce themselves and have no name.
const { ethereum } = /** @type {{ ethereum?: Wallet }} */ (/** @type {unknown} */ (window));
if (walletsById.size === 0 && ethereum !== undefined) {
  walletsById.set('', { name: '', wallet: ethereum });
  offerWallets();
}

function offerWallets() {
  const place = document.getElementById('wallets');
  if (place === null) return;
  place.replaceChildren(
    ...[...walletsById.values()].map(({ name, wallet }) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'button wide';
      const { pay = '', open = '' } = place.dataset;
      button.textContent = name === '' ? open : pay.replace('{wallet}', () => name);
      button.onclick = () => void payFrom(wallet, place);
      return button;
    }),
  );
}

/** @param {Wallet} wallet @param {HTMLElement} place */
async function payFrom(wallet, place) {
  const { chain, token, call, sent, refused, network } = place.dataset;
  const note = /** @type {HTMLElement} */ (document.getElementById('wallet-note'));
  const buttons = place.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  try {
    const [from] = /** @type {string[]} */ (await wallet.request({ method: 'eth_requestAccounts' }));
    // Switches the network first, because USDC sent on another network would be lost.
    const toChain = () =>
      wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chain }] });
    await toChain().catch(async (error) => {
      // Error codes for an unknown network differ between wallets. The code 4001 means that the owner refused.
      if (!network || error?.code === 4001) throw error;
      await wallet.request({ method: 'wallet_addEthereumChain', params: [JSON.parse(network)] });
      await toChain();
    });
    const transfer = { from, to: token, data: call, value: '0x0' };
    await wallet.request({ method: 'eth_sendTransaction', params: [transfer] });
    // Keeps the buttons disabled, because a second click would pay twice.
    note.textContent = sent ?? '';
  } catch {
    note.textContent = refused ?? '';
    for (const button of buttons) button.disabled = false;
  }
}

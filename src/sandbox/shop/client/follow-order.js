// Keeps the page like the order: looks again every second, and adds what is new. What a reader opened stays open.
const CUSTOMER = '[aria-labelledby="customer"]';

async function look() {
  const steps = document.getElementById('steps');
  const customer = document.querySelector(CUSTOMER);
  if (document.hidden || steps === null || customer === null) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null);
  if (response?.ok !== true) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  steps.append(...[...page.querySelectorAll('#steps > li')].slice(steps.children.length));
  const fresh = page.querySelector(CUSTOMER);
  if (fresh !== null && fresh.innerHTML !== customer.innerHTML) customer.replaceChildren(...fresh.childNodes);
}

setInterval(look, 1_000);

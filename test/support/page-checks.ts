import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong, in words. Evaluated from outside the page's policy, which lets no script of ours in. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
}

/** By how many pixels the page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** What of the page's tables, their links and buttons included, begins or ends beyond the edge of the window: its text. */
export async function cellsOutOfSight(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('tbody :is(th, td, a, button, select)')]
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 || right > document.documentElement.clientWidth;
    })
    .map(({ textContent }) => textContent)`);
}

/** Tolerated layout shift. A late banner moves the page by far more. */
export const TOLERATED_SHIFT = 0.005;

/** Returns the least shift of up to three loads, because a busy browser may paint half a sentence. */
export async function shiftOf(page: Page): Promise<number> {
  let least = await readShift(page);
  for (let again = 0; again < 2 && least >= TOLERATED_SHIFT; again++) {
    await page.reload();
    least = Math.min(least, await readShift(page));
  }
  return least;
}

/** Reads the cumulative layout shift. */
const readShift = (page: Page) =>
  page.evaluate(`new Promise((resolve) => {
    let shift = 0;
    const observer = new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; });
    observer.observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(shift)));
  })`) as Promise<number>;

const CONTROLS = 'a[href], button, summary, input:not([type="hidden"]), select, textarea';

/** The states of a control that a person sees: each looks unlike the one it is compared with. */
const states = [
  ['under the pointer', ['hover'], []],
  ['pressed', ['hover', 'active'], ['hover']],
  ['with the focus', ['focus', 'focus-visible'], []],
] as const;

/** What shows of an element: native boxes draw no border, and lines and outlines that are off have no color. */
const LOOK = `function () {
  const lookOf = (element, pseudo) => {
    const style = getComputedStyle(element, pseudo);
    const isNative = element.matches('[type="checkbox"], [type="radio"]');
    return [style.color, style.backgroundColor, style.boxShadow, style.opacity, style.fontWeight,
      isNative || style.borderTopWidth === '0px' ? '' : style.borderTopColor,
      style.outlineStyle === 'none' ? '' : style.outline,
      style.textDecorationLine === 'none' ? '' : style.textDecoration].join(' ');
  };
  const row = this.matches('.row') ? [lookOf(this.closest('tr'))] : [];
  return [lookOf(this), lookOf(this, '::after'), ...row].join(' | ');
}`;

/**
 * Visible controls that look the same under the pointer, pressed or with the focus of the keyboard, in words. Skips kinds of
 * controls that are in `seen`, and adds the others.
 */
export async function statelessControlsOf(page: Page, seen: Set<string>): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const found: string[] = [];
  try {
    // Away from the control of the last click or input, which would be under the pointer or focused in every state.
    await page.mouse.move(0, 0);
    await page.evaluate('document.activeElement.blur()');
    await session.send('DOM.enable');
    await session.send('CSS.enable');
    const kinds = (await page.evaluate(`[...document.querySelectorAll('${CONTROLS}')].map((each) =>
      each.matches(':disabled') || !each.checkVisibility({ visibilityProperty: true }) ? '' : [each.localName, each.className, each.type ?? '',
        each.ariaCurrent ?? '', each.parentElement.localName, each.parentElement.className,
        each.closest('header, nav, main, .side')?.className].join(' '))`)) as string[];
    const { root } = await session.send('DOM.getDocument', { depth: 0 });
    const { nodeIds } = await session.send('DOM.querySelectorAll', {
      nodeId: root.nodeId,
      selector: CONTROLS,
    });
    for (const [index, nodeId] of nodeIds.entries()) {
      const kind = kinds[index] ?? '';
      if (kind === '' || seen.has(kind)) continue;
      seen.add(kind);
      const { object } = await session.send('DOM.resolveNode', { nodeId });
      const { objectId = '' } = object;
      const closest = { objectId, functionDeclaration: "function () { return this.closest('tr') ?? this; }" };
      const { result: row } = await session.send('Runtime.callFunctionOn', closest);
      const rowNode = await session.send('DOM.requestNode', { objectId: row.objectId ?? '' });
      const lookIn = async (forcedPseudoClasses: readonly string[]) => {
        for (const id of new Set([nodeId, rowNode.nodeId]))
          await session.send('CSS.forcePseudoState', {
            nodeId: id,
            forcedPseudoClasses: [...forcedPseudoClasses],
          });
        const { result } = await session.send('Runtime.callFunctionOn', {
          objectId,
          functionDeclaration: LOOK,
        });
        return result.value as string;
      };
      for (const [words, state, other] of states)
        if ((await lookIn(state)) === (await lookIn(other)))
          found.push(`${kind} looks the same ${words}: ${object.description}`);
      await lookIn([]);
    }
  } finally {
    await session.detach();
  }
  return found;
}

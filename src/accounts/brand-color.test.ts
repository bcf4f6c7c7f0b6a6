import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brandTokens, contrastOf, parseBrandColor } from './brand-color.ts';

const colors = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`);

describe('the brand color', () => {
  it.each([
    ['', null],
    ['  ', null],
    ['#0C5A49', '#0c5a49'],
    ['0c5a49', '#0c5a49'],
    ['#a00', '#aa0000'],
    ['#767676', '#767676'],
  ])('is kept in one spelling: %j', (text, color) => expect(parseBrandColor(text)).toBe(color));

  it.each(['green', '#12345', 'rgb(0,0,0)', '#0c5a49;}', '#0c5a49ff'])('is not %j', (text) => {
    expect(() => parseBrandColor(text)).toThrow(/^brand-color must be a color in hexadecimal/);
  });

  it('is refused where white text on it is hard to read, with the ratio and the nearest color that passes', () => {
    expect(() => parseBrandColor('#ffd400')).toThrow(
      /^brand-color must be darker: white text on #ffd400 has a contrast of 1\.43:1 and needs 4\.5:1\. The nearest color that passes is #[0-9a-f]{6}$/,
    );
    // #777777 is one step lighter than the lightest gray that passes.
    expect(() => parseBrandColor('#777777')).toThrow(/4\.47:1 and .* is #767676$/);
  });

  it('is accepted exactly where white text reaches 4.5:1, and else what is proposed is accepted', () => {
    fc.assert(
      fc.property(colors, (color) => {
        if (contrastOf('#ffffff', color) >= 4.5) return parseBrandColor(color) === color;
        try {
          parseBrandColor(color);
          return false;
        } catch (error) {
          const proposed = /#[0-9a-f]{6}$/.exec(String(error))?.[0] ?? '';
          return parseBrandColor(proposed) === proposed;
        }
      }),
    );
  });

  it('leaves all text readable, on light and dark pages', () => {
    const dark = { sheet: '#161e1b', ground: '#0e1412' };
    const accepted = colors.filter((color) => contrastOf('#ffffff', color) >= 4.5);
    fc.assert(
      fc.property(accepted, (color) => {
        const tokens = brandTokens(color);
        const pairs: string[][] = [tokens.light, tokens.dark].flatMap((one) => [
          [one['accent-text'], one.accent],
          [one['accent-text'], one['accent-strong']],
          [one['panel-text'], one.panel],
          [one['panel-soft'], one.panel],
        ]);
        pairs.push(
          [tokens.light.accent, '#ffffff'],
          ['#15201c', tokens.light.tint],
          [tokens.dark.accent, dark.sheet],
          [tokens.dark.accent, dark.ground],
          ['#ebf2ee', tokens.dark.tint],
        );
        for (const [text = '', ground = ''] of pairs) {
          expect(contrastOf(text, ground)).toBeGreaterThanOrEqual(4.5);
        }
      }),
    );
  });
});

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accentCss, accentTheme, contrast, palettes, readable, rgb } from './accent.ts';

describe('a project’s color', () => {
  it('computes contrast as in WCAG 2.2', () => {
    expect(contrast([255, 255, 255], [0, 0, 0])).toBeCloseTo(21, 5);
    expect(contrast([118, 118, 118], [255, 255, 255])).toBeCloseTo(4.54, 2);
  });

  it('stays unchanged if it is readable, and reports it', () => {
    const { light } = accentTheme('#1d3890');
    expect(light).toMatchObject({ accent: '#1d3890', accentText: '#1d3890', onAccent: '#ffffff', isAdjusted: false });
    expect(readable([0, 0, 139], [255, 255, 255], [0, 0, 0], 4.5)).toEqual([0, 0, 139]);
  });

  it('always leaves text on buttons and links on every background readable in both themes', () => {
    const colors = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
    fc.assert(
      fc.property(colors, (color) => {
        for (const theme of ['light', 'dark'] as const) {
          const tones = accentTheme(color)[theme];
          expect(contrast(rgb(tones.accent), rgb(tones.onAccent))).toBeGreaterThanOrEqual(4.5);
          expect(contrast(rgb(tones.accentStrong), rgb(tones.onAccent))).toBeGreaterThanOrEqual(4.5);
          expect(contrast(rgb(tones.accent), rgb(palettes[theme].card))).toBeGreaterThanOrEqual(1.2);
          for (const background of [palettes[theme].card, palettes[theme].tint]) {
            expect(contrast(rgb(tones.accentText), rgb(background))).toBeGreaterThanOrEqual(4.5);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('uses the background colors of the style sheet', () => {
    const css = readFileSync(new URL('../../../../console/signin/styles/palette.css', import.meta.url), 'utf8');
    const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');
    for (const [name, value] of Object.entries(palettes.light)) expect(light).toContain(`--${name}: ${value};`);
    for (const [name, value] of Object.entries(palettes.dark)) expect(dark).toContain(`--${name}: ${value};`);
  });

  it('becomes a style sheet that sets colors only', () => {
    expect(accentCss('#ffd400')).toMatch(/^:root\{(--[a-z-]+:#[0-9a-f]{6};?)+\}@media \(prefers-color-scheme:dark\)\{/);
  });
});

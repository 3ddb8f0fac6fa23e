type Rgb = readonly [number, number, number];

/** The colors derived from a project's accent for one theme, adjusted so that text is readable. */
export interface AccentTones {
  /** Buttons. */
  accent: string;
  /** Hovered buttons. */
  accentStrong: string;
  /** Text on buttons. */
  onAccent: string;
  /** Links and focus rings. */
  accentText: string;
  /** Contrast of text on buttons (WCAG 2.2, 1.4.3): at least 4.5. */
  contrast: number;
  /** Contrast of links on their darkest (dark theme: lightest) background: at least 4.5. */
  textContrast: number;
  /** Whether the buttons' color differs from the accent. */
  isAdjusted: boolean;
}

export interface AccentTheme {
  light: AccentTones;
  dark: AccentTones;
}

/** Background and text colors of the pages, as in console/signin/styles/palette.css. */
export const palettes = {
  light: { card: '#ffffff', tint: '#eef1f5', text: '#15181d' },
  dark: { card: '#161a21', tint: '#1f252e', text: '#e9ecf0' },
} as const;

const white: Rgb = [255, 255, 255];
const black: Rgb = [11, 14, 19];
const minTextContrast = 4.5;
/** Minimum contrast of a button with its card. */
const minButtonContrast = 1.2;

/** @param color `#rrggbb` */
export function accentTheme(color: string): AccentTheme {
  return { light: tones(color, palettes.light), dark: tones(color, palettes.dark) };
}

/** The theme as a style sheet, to load after the pages' own. */
export function accentCss(color: string): string {
  const { light, dark } = accentTheme(color);
  return `:root{${declarations(light)}}@media (prefers-color-scheme:dark){:root{${declarations(dark)}}}\n`;
}

function declarations({ accent, accentStrong, onAccent, accentText }: AccentTones): string {
  return `--accent:${accent};--accent-strong:${accentStrong};--on-accent:${onAccent};--accent-text:${accentText}`;
}

function tones(color: string, palette: (typeof palettes)['light' | 'dark']): AccentTones {
  const chosen = rgb(color);
  const foreground = rgb(palette.text);
  const button = readable(chosen, rgb(palette.card), foreground, minButtonContrast);
  const on =
    contrast(button, white) >= minTextContrast ? white : contrast(button, black) >= minTextContrast ? black : white;
  const opposite = on === white ? black : white;
  // Neither is readable on some mid tones; darken those for white.
  const accent = readable(button, on, opposite, minTextContrast);
  const accentText = readable(chosen, rgb(palette.tint), foreground, minTextContrast);
  return {
    accent: hex(accent),
    accentStrong: hex(mix(accent, opposite, 0.15)),
    onAccent: hex(on),
    accentText: hex(accentText),
    contrast: rounded(contrast(accent, on)),
    textContrast: rounded(contrast(accentText, rgb(palette.tint))),
    isAdjusted: hex(accent) !== hex(chosen),
  };
}

/** Contrast ratio of two colors (WCAG 2.2), 1 to 21. */
export function contrast(one: Rgb, two: Rgb): number {
  const [dark, light] = [luminance(one), luminance(two)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Moves `color` towards `foreground` only as far as needed for the contrast with `background`. */
export function readable(color: Rgb, background: Rgb, foreground: Rgb, ratio: number): Rgb {
  let result = color;
  for (let step = 0; step <= 20 && contrast(result, background) < ratio; step += 1)
    result = mix(color, foreground, step / 20);
  return result;
}

export function rgb(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function hex(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function luminance(color: Rgb): number {
  const [r, g, b] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return from.map((value, i) => Math.round(value + ((to[i] as number) - value) * share)) as unknown as Rgb;
}

/** Rounds down, so that a contrast is never overstated. */
function rounded(ratio: number): number {
  return Math.floor(ratio * 100) / 100;
}

type Rgb = [number, number, number];

/** Relative luminance (WCAG 2.2). */
export function luminance(color: Rgb): number {
  const [r, g, b] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast ratio (WCAG 2.2), 1 to 21. */
export function contrast(one: Rgb, two: Rgb): number {
  const [dark, light] = [luminance(one), luminance(two)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const mix = (from: Rgb, to: Rgb, share: number) =>
  from.map((value, i) => Math.round(value + (to[i]! - value) * share)) as Rgb;

/** `color`, moved towards `ink` only as far as its contrast with `paper` needs. */
export function readable(color: Rgb, paper: Rgb, ink: Rgb, ratio: number): Rgb {
  let result = color;
  for (let share = 0; share <= 1 && contrast(result, paper) < ratio; share += 0.05) result = mix(color, ink, share);
  return result;
}

/**
 * Takes over the project's colour, in both themes, without losing legibility: buttons keep it, with black or white on it,
 * as long as they can be told from the page; text in it is darkened or lightened until it reads.
 */
export function applyAccent(color: string): void {
  const root = document.documentElement;
  const accent = CSS.supports('color', color) && measure(color);
  if (!accent) return;
  const apply = () => {
    const paper = measure('var(--card)')!;
    const ink = measure('var(--text)')!;
    const button = readable(accent, paper, ink, 1.2);
    const white: Rgb = [255, 255, 255];
    const black: Rgb = [11, 14, 19];
    const on = contrast(button, white) >= 4.5 ? white : contrast(button, black) >= 4.5 ? black : white;
    // Neither reads on some mid tones: white does on the same colour, darker.
    const solid = readable(button, on, on === white ? black : white, 4.5);
    const set = (name: string, value: Rgb) => root.style.setProperty(name, `rgb(${value.join(' ')})`);
    set('--accent', solid);
    set('--accent-strong', mix(solid, on === white ? black : white, 0.15));
    set('--on-accent', on);
    set('--accent-text', readable(accent, paper, ink, 4.5));
  };
  apply();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
}

/** What the browser makes of a CSS colour, in sRGB. */
function measure(color: string): Rgb | undefined {
  const probe = document.createElement('i');
  probe.style.color = color;
  document.body.append(probe);
  const values = getComputedStyle(probe).color.match(/^rgba?\((\d+), (\d+), (\d+)/);
  probe.remove();
  return values ? (values.slice(1).map(Number) as Rgb) : undefined;
}

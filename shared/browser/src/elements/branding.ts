import { h } from './dom.ts';

/** The look of the project, in the shape of `GET /experience/of/<key>`. */
export type Branding = {
  /** Follows the element's own sheet, and replaces its defaults. */
  sheet: CSSStyleSheet;
  logo: HTMLElement | undefined;
};

const color = /^#[0-9a-f]{6}$/;
const id = /^[0-9a-f-]{36}$/;

/** The project's published colors and logo. Undefined: none, or no response within a second. Never throws. */
export async function brandingOf(base: string, apiKey: string): Promise<Branding | undefined> {
  try {
    const url = `${base}/experience/`;
    const response = await fetch(`${url}of/${apiKey}`, { credentials: 'omit', signal: AbortSignal.timeout(1000) });
    const { colors, logo } = (await response.json()) as {
      colors: Record<'accent' | 'on-accent' | 'link', [string, string]> | null;
      logo: [string, string] | null;
    };
    const sheet = new CSSStyleSheet();
    if (colors)
      for (const name of ['accent', 'on-accent', 'link'] as const) {
        const pair = colors[name];
        // Nothing but colors reaches the style sheet.
        if (pair.every((one) => color.test(one)))
          sheet.insertRule(`:host{--${name}:var(--latchkey-${name},light-dark(${pair.join()}))}`);
      }
    return { sheet, logo: logo?.every((one) => id.test(one)) ? picture(`${url}logos/`, logo) : undefined };
  } catch {
    return undefined;
  }
}

function picture(url: string, [light, dark]: [string, string]): HTMLElement {
  const image = h('img', 'logo', { src: url + light, alt: '' });
  // A Content-Security-Policy of the page may forbid it.
  image.addEventListener('error', () => image.remove());
  const other = h('source', '', { srcset: url + dark, media: '(prefers-color-scheme:dark)' });
  return h('picture', '', {}, other, image);
}

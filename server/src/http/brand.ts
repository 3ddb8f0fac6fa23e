import { filled } from '../domain/delivery/templates.ts';
import type { Brand } from '../domain/experience/content.ts';
import { escapeHtml } from './html.ts';

/** Version of the derivation of tones from a color. Increment on change: browsers cache these files forever. */
const accentRule = 1;

/** Paths of accent style sheets and logos; both are immutable. */
export const accentPath = `/experience/accent/${accentRule}`;
export const logoPath = '/experience/logos';

/** Extra `<head>` HTML: the project's color, applied before first paint without a script. */
export function brandedHead(brand: Brand | null): string {
  if (!brand?.accent) return '';
  return `<link rel="stylesheet" href="${accentPath}/${escapeHtml(brand.accent.slice(1))}.css">`;
}

/** The project's overrides of message texts, by message key. */
export function brandedTexts(brand: Brand | null): Record<string, string | undefined> {
  return { 'address.title': brand?.texts.heading, 'address.text': brand?.texts.subline };
}

/** Header of a project's pages: logo and names. Without a logo, the CSS shows the first letter. */
export function pageHeader(brand: Brand | null, app: string): string {
  if (!brand) return '';
  const first = app || brand.name;
  // A project with a single application often has the same name: show it once.
  const second = app !== '' && app.toLowerCase() !== brand.name.toLowerCase() ? brand.name : '';
  const below = second === '' ? '' : ` <span id="project">${escapeHtml(second)}</span>`;
  return `<header class="app">${mark(brand, first)}<p class="names"><strong>${escapeHtml(first)}</strong>${below}</p></header>`;
}

function mark({ logo }: Brand, name: string): string {
  if (!logo) return `<span class="monogram" aria-hidden="true">${escapeHtml(name)}</span>`;
  const address = (id: string) => `${logoPath}/${escapeHtml(id)}`;
  const dark = `<source srcset="${address(logo.dark)}" media="(prefers-color-scheme: dark)">`;
  const image = `<img class="logo" src="${address(logo.light)}" alt="" height="40">`;
  return logo.dark === logo.light ? image : `<picture>${dark}${image}</picture>`;
}

const links = [
  ['supportUrl', 'page.help'],
  ['privacyUrl', 'page.privacy'],
  ['termsUrl', 'page.terms'],
] as const;

/** Footer of a project's pages: a line of text and links. Links open a new tab, so that a sign-in is not lost. */
export function pageFooter(
  brand: Brand | null,
  names: { app: string; project: string },
  t: (key: string) => string,
): string {
  const { texts = {} } = brand ?? {};
  const line = texts.footer === undefined ? '' : `<p>${escapeHtml(filled(texts.footer, names))}</p>`;
  const anchors = links.flatMap(([key, label]) => {
    const address = texts[key];
    if (address === undefined) return [];
    return [`<a href="${escapeHtml(address)}" target="_blank" rel="noopener noreferrer">${escapeHtml(t(label))}</a>`];
  });
  return line + (anchors.length === 0 ? '' : `<p class="links">${anchors.join(' ')}</p>`);
}

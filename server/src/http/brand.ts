import { filled } from '../domain/delivery/templates.ts';
import type { Brand } from '../domain/experience/content.ts';
import { escapeHtml } from './html.ts';

/** Of the rule by which a colour becomes tones: another rule gets another number, since these files are kept for good. */
const accentRule = 1;

/** Where a colour's style sheet and a logo are served; both never change. */
export const accentPath = `/experience/accent/${accentRule}`;
export const logoPath = '/experience/logos';

/** What the head of a page gets besides: the project's colour, before the first paint and without a script. */
export function brandedHead(brand: Brand | null): string {
  if (!brand?.accent) return '';
  return `<link rel="stylesheet" href="${accentPath}/${escapeHtml(brand.accent.slice(1))}.css">`;
}

/** The project's own words in the place of ours, by the keys of the messages. */
export function brandedTexts(brand: Brand | null): Record<string, string | undefined> {
  return { 'address.title': brand?.texts.heading, 'address.text': brand?.texts.subline };
}

/** Logo and names, on top of every page of a project. The first letter stands in for a logo. */
export function pageHeader(brand: Brand | null, app: string): string {
  if (!brand) return '';
  const first = app || brand.name;
  // A project with one application often bears its name: once is enough.
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

/** The project's line and links at the foot of every page. They open beside a sign-in that is under way. */
export function pageFooter(
  brand: Brand | null,
  names: { app: string; project: string },
  say: (key: string) => string,
): string {
  const { texts = {} } = brand ?? {};
  const line = texts.footer === undefined ? '' : `<p>${escapeHtml(filled(texts.footer, names))}</p>`;
  const anchors = links.flatMap(([key, label]) => {
    const address = texts[key];
    if (address === undefined) return [];
    return [`<a href="${escapeHtml(address)}" target="_blank" rel="noopener noreferrer">${escapeHtml(say(label))}</a>`];
  });
  return line + (anchors.length === 0 ? '' : `<p class="links">${anchors.join(' ')}</p>`);
}

import { mailTextFault } from '../kernel/name.ts';
import { directionOf, type Locale } from './locale.ts';
import { wordingIn } from './texts.ts';
import type { MessageContent, Wording } from './wording.ts';

/** A message in one language. */
export interface RenderedMessage {
  subject: string;
  text: string;
  html: string;
}

/** The branding of a project's mails. */
export interface MailLook {
  /** Display name. */
  name: string;
  /** `#rrggbb`, color of the line above the text. */
  accent: string | null;
  /** Custom texts by template. */
  words: Partial<Record<MessageContent['template'], { subject?: string | undefined; intro?: string | undefined }>>;
}

/** Renders a mail. */
export function renderMail(content: MessageContent, locale: Locale, look?: MailLook): RenderedMessage {
  const shown = 'code' in content ? { ...content, code: grouped(content.code) } : content;
  const { subject, before, after } = worded(wordingOf(shown, locale), shown, look);
  const unlinkedHere = (line: string) => unlinked(line, addressIn(content));
  const wording = { subject, before: before.map(unlinkedHere), after: after.map(unlinkedHere) };
  const code = 'code' in shown ? shown.code : null;
  return {
    subject,
    text: [...wording.before, ...(code === null ? [] : [code]), ...wording.after].join('\n\n'),
    html: html(wording, code, locale, look),
  };
}

/** Applies the project's subject and first sentence, if it has them. */
function worded(wording: Wording, content: MessageContent, look: MailLook | undefined): Wording {
  const own = look?.words[content.template];
  if (!look || !own) return wording;
  const names = { app: oneLine(content.app), project: oneLine(look.name) };
  const code = 'code' in content ? content.code : '';
  const custom = (text: string | undefined): string | undefined => {
    // Parts that are harmless separately can form a link together.
    const isHarmless = text !== undefined && mailTextFault(filled(text, { ...names, code: '' })) === null;
    return isHarmless ? filled(text, { ...names, code }) : undefined;
  };
  const [subject, intro] = [custom(own.subject), custom(own.intro)];
  return {
    ...wording,
    ...(subject !== undefined && { subject: oneLine(subject).slice(0, 200) }),
    ...(intro !== undefined && { before: [intro, ...wording.before.slice(1)] }),
  };
}

/** Fills the placeholders; filled-in values are not parsed again. */
export function filled(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** A long code as `XXXXX-XXXXX`, for reading; six digits unchanged. */
function grouped(code: string): string {
  return code.length === 10 ? `${code.slice(0, 5)}-${code.slice(5)}` : code;
}

/**
 * Renders an SMS: one line with the code, or the notice without its subject. A long code is one word here: autofill
 * accepts up to 10 letters and digits, and no dash.
 */
export function renderSms(content: MessageContent, locale: Locale): string {
  const wording = wordingOf(content, locale);
  return unlinked('code' in content ? `${wording.subject}.` : wording.before.join(' '), addressIn(content));
}

/** The link in a message, if any. */
function addressIn(content: MessageContent): string | undefined {
  if ('url' in content) return content.url;
  return 'cancelUrl' in content ? content.cancelUrl : undefined;
}

/**
 * A text in which mail clients find no link but `address`. They turn each domain into a link, and other people choose
 * the names in our messages. A word joiner (U+2060) is invisible, and screen readers skip it.
 */
function unlinked(text: string, address: string | undefined): string {
  const breaks = (part: string) => part.replace(/[.\u3002\uff0e\uff61](?=[\p{L}\p{N}])|:(?=\/\/)/gu, '$&\u2060');
  return address === undefined ? breaks(text) : text.split(address).map(breaks).join(address);
}

function wordingOf(content: MessageContent, locale: Locale): Wording {
  const lines = Object.entries(content).map(([name, value]) => [
    name,
    typeof value === 'string' ? oneLine(value) : value,
  ]);
  const { subject, before, after } = wordingIn(locale, Object.fromEntries(lines) as MessageContent);
  return { subject: oneLine(subject).slice(0, 200), before, after };
}

/** Removes line breaks, which would inject headers and paragraphs. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

function html({ subject, before, after }: Wording, code: string | null, locale: Locale, look?: MailLook): string {
  const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`;
  const digits =
    code === null
      ? ''
      : `<p style="margin:8px 0 24px;font:600 32px/1.25 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.16em">${escapeHtml(code)}</p>`;
  const style =
    'max-width:480px;margin:0 auto;padding:32px 16px;font:16px/1.5 system-ui,-apple-system,Segoe UI,sans-serif';
  return [
    `<!doctype html><html lang="${locale}" dir="${directionOf(locale)}"><head><meta charset="utf-8">`,
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(subject)}</title></head><body style="margin:0"><div style="${style}">`,
    look ? head(look) : '',
    ...before.map(paragraph),
    digits,
    ...after.map(paragraph),
    '</div></body></html>',
  ].join('');
}

/**
 * A line in the project's color, and its name. Uses `rgb()`: six hex digits of a color could be detected as a code.
 */
function head({ name, accent }: MailLook): string {
  const color = Number.parseInt((accent ?? '#2f55d4').slice(1), 16);
  const rgb = `rgb(${color >> 16},${(color >> 8) & 255},${color & 255})`;
  return (
    `<div style="height:4px;width:48px;margin:0 0 16px;background:${rgb}"></div>` +
    `<p style="margin:0 0 24px;font-weight:600">${escapeHtml(unlinked(oneLine(name), undefined))}</p>`
  );
}

/** Escapes text for HTML elements and quoted attributes. */
function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}

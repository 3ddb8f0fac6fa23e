import type { Locale } from './locale.ts';
import { type MessageContent, texts, type Wording } from './texts.ts';

/** A message in the words of one language. */
export interface RenderedMessage {
  subject: string;
  text: string;
  html: string;
}

/** The message for a mail. */
export function renderMail(content: MessageContent, locale: Locale): RenderedMessage {
  const wording = wordingOf(content, locale);
  const code = 'code' in content ? content.code : null;
  return {
    subject: wording.subject,
    text: [...wording.before, ...(code === null ? [] : [code]), ...wording.after].join('\n\n'),
    html: html(wording, code, locale),
  };
}

/** The message for a phone: a code's one line, or the notice without its subject. */
export function renderSms(content: MessageContent, locale: Locale): string {
  const wording = wordingOf(content, locale);
  return 'code' in content ? `${wording.subject}.` : wording.before.join(' ');
}

function wordingOf(content: MessageContent, locale: Locale): Wording {
  const wording = texts[locale][content.template] as (content: MessageContent) => Wording;
  const { subject, before, after } = wording({ ...content, app: oneLine(content.app) });
  return { subject: oneLine(subject).slice(0, 200), before, after };
}

/** A name from outside must not end the line it stands in: the rest would be a header of its own. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

function html({ subject, before, after }: Wording, code: string | null, locale: Locale): string {
  const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`;
  const digits =
    code === null
      ? ''
      : `<p style="margin:8px 0 24px;font:600 32px/1.25 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.16em">${escapeHtml(code)}</p>`;
  const style =
    'max-width:480px;margin:0 auto;padding:32px 16px;font:16px/1.5 system-ui,-apple-system,Segoe UI,sans-serif';
  return [
    `<!doctype html><html lang="${locale}"><head><meta charset="utf-8">`,
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(subject)}</title></head><body style="margin:0"><div style="${style}">`,
    ...before.map(paragraph),
    digits,
    ...after.map(paragraph),
    '</div></body></html>',
  ].join('');
}

/** For text in HTML, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}

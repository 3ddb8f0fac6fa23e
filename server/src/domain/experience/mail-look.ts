import type { MailLook } from '../delivery/templates.ts';
import type { Brand } from './content.ts';

const templates = ['sign-in-code', 'factor-code', 'new-device'] as const;

/** The branding of a mail in one language. */
export function mailLookOf({ name, accent, texts }: Brand): MailLook {
  const words = templates.map((template) => [
    template,
    { subject: texts[`${template}.subject`], intro: texts[`${template}.intro`] },
  ]);
  return { name, accent, words: Object.fromEntries(words) };
}

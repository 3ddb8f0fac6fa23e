import { escapeHtml, hiddenFields } from '../http/html.ts';

/** HTML that was made here, as opposed to a text that is still to be escaped. */
export class Html {
  constructor(readonly text: string) {}
}

export type Part = string | Html | readonly Html[];

/** HTML from a template: whatever is filled in is escaped, unless it is HTML itself. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const filled = strings.flatMap((piece, index) => [piece, index < parts.length ? written(parts[index] as Part) : '']);
  return new Html(filled.join(''));
}

export const nothing = new Html('');

/** Hidden inputs of a form. */
export function hidden(fields: Record<string, string>): Html {
  return new Html(hiddenFields(fields));
}

function written(part: Part): string {
  if (part instanceof Html) return part.text;
  return typeof part === 'string' ? escapeHtml(part) : part.map(({ text }) => text).join('');
}

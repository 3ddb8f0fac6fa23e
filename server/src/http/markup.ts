import { escapeHtml, hiddenFields } from './html.ts';

/** Trusted HTML, as opposed to text that must be escaped. */
export class Html {
  constructor(readonly text: string) {}
}

export type Part = string | Html | readonly Html[];

/** Template tag for HTML. Escapes interpolated values unless they are {@link Html}. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const filled = strings.flatMap((piece, index) => [piece, index < parts.length ? written(parts[index] as Part) : '']);
  return new Html(filled.join(''));
}

export const nothing = new Html('');

export function hidden(fields: Record<string, string>): Html {
  return new Html(hiddenFields(fields));
}

function written(part: Part): string {
  if (part instanceof Html) return part.text;
  return typeof part === 'string' ? escapeHtml(part) : part.map(({ text }) => text).join('');
}

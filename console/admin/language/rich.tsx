import { Fragment, type ReactNode } from 'react';
import type { Values } from './english.ts';
import { fill, translationOf } from './language.ts';

type Element = (text: string) => ReactNode;

/** Elements that need no props. */
const plain: Readonly<Record<string, Element>> = {
  code: (text) => <code>{text}</code>,
  em: (text) => <em>{text}</em>,
  strong: (text) => <strong>{text}</strong>,
};

/**
 * A translated message with elements: each `<tag>text</tag>` becomes the result of the function `tag` among the values. Tags do
 * not nest, and must be outside plurals.
 */
export function rich(message: string, values: Readonly<Record<string, Values[string] | Element>> = {}): ReactNode {
  const filled = (text: string) => fill(text, values as Values);
  // Text, tag, text within, text, …
  const parts = translationOf(message).split(/<(\w+)>(.*?)<\/\1>/);
  return parts.map((part, index) => {
    if (index % 3 === 2) return null;
    if (index % 3 === 0) return filled(part);
    const element = values[part] ?? plain[part];
    return <Fragment key={index}>{typeof element === 'function' && element(filled(parts[index + 1] ?? ''))}</Fragment>;
  });
}

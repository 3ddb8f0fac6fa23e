import { Fragment, type ReactNode } from 'react';
import type { Values } from './english.ts';
import { fill, translationOf } from './language.ts';

type Tags = Readonly<Record<string, (text: string) => ReactNode>>;

/**
 * A translated message with elements: each `<tag>text</tag>` becomes the result of `tags.tag`. Tags do not nest, and stand
 * outside of plurals.
 */
export function rich(message: string, tags: Tags, values?: Values): ReactNode {
  // Text, tag, text within, text, …
  const parts = translationOf(message).split(/<(\w+)>(.*?)<\/\1>/);
  return parts.map((part, index) => {
    if (index % 3 === 1) return <Fragment key={index}>{tags[part]?.(fill(parts[index + 1] ?? '', values))}</Fragment>;
    return index % 3 === 0 ? fill(part, values) : null;
  });
}

import { escapedValue } from './canonical.ts';

/** XML that was composed here. */
export interface Markup {
  xml: string;
}

export function raw(xml: string): Markup {
  return { xml };
}

/** XML of a template: interpolated text is escaped, for elements and attribute values alike; nested markup is not. */
export function markup(parts: TemplateStringsArray, ...values: (string | Markup | readonly Markup[])[]): Markup {
  return raw(parts.reduce((xml, part, index) => xml + written(values[index - 1] ?? '') + part));
}

function written(value: string | Markup | readonly Markup[]): string {
  if (typeof value === 'string') return escapedValue(xmlCharacters(value)).replaceAll('>', '&gt;');
  return 'xml' in value ? value.xml : value.map(({ xml }) => xml).join('');
}

/** XML 1.0 section 2.2 has no way to write the other characters. */
function xmlCharacters(value: string): string {
  return value.toWellFormed().replace(/(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu, '\uFFFD');
}

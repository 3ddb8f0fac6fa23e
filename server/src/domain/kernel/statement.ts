import { type Fragment, type Statement, sql } from './sql.ts';

export { sql } from './sql.ts';

export const verbatim = sql.raw;

/** A statement with `?` for its values. */
export function positional<Row>(text: string, params: readonly unknown[]): Statement<Row> {
  return fragment(text, params) as Statement<Row>;
}

export function fragment(text: string, params: readonly unknown[]): Fragment {
  const strings = text.split('?');
  return sql(Object.assign(strings, { raw: strings }), ...params);
}

export function nameOf(text: string): string {
  if (!names.has(text)) names.set(text, `latchkey_${names.size + 1}`);
  return names.get(text) as string;
}

const names = new Map<string, string>();

export interface Positional {
  text: string;
  params: readonly unknown[];
}

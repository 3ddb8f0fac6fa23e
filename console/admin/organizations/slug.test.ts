import { describe, expect, it } from 'vitest';
import { suggestedSlug } from './slug.ts';

describe('the suggested slug of an organization', () => {
  it.each([
    ['Acme', 'acme'],
    ['Größe & Co.', 'grosse-co'],
    ['  Café  de l’Été ', 'cafe-de-l-ete'],
    ['株式会社', ''],
    [`${'a'.repeat(62)} bc`, 'a'.repeat(62)],
  ])('of %j is %j', (name, slug) => {
    expect(suggestedSlug(name)).toBe(slug);
  });
});

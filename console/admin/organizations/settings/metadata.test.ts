import { describe, expect, it } from 'vitest';
import { metadataOf, shownMetadata } from './metadata.ts';

describe('the metadata of an organization', () => {
  it.each(['', '  \n', '{}'])('is empty for the text %j', (text) => {
    expect(metadataOf(text)).toEqual({});
  });

  it.each(['[1]', '"x"', 'null', '7', '{"a":', 'plan: pro'])('is not the text %j', (text) => {
    expect(metadataOf(text)).toBeUndefined();
  });

  it('is the same after it was shown and read', () => {
    const metadata = { plan: 'pro', seats: 12, contacts: [{ name: 'Ada' }] };
    expect(metadataOf(shownMetadata(metadata))).toEqual(metadata);
    expect(shownMetadata({})).toBe('');
  });
});

/** Metadata as text, for editing. */
export const shownMetadata = (metadata: Record<string, unknown>): string =>
  Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata, null, 2);

/** The JSON object of a text; an empty text is `{}`. Undefined: not a JSON object. */
export function metadataOf(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

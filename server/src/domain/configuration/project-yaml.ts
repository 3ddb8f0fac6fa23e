import { Document, Scalar } from 'yaml';

/**
 * Writes values as YAML. Bytes are base64 (`!!binary`), or references to the files that `save` returns.
 */
export function projectYaml(values: object, save?: (bytes: Uint8Array, path: readonly unknown[]) => string): string {
  const document = new Document(undefined, { customTags: ['binary'] });
  document.contents = document.createNode(values, (key: unknown, value: unknown) => {
    if (!(value instanceof Uint8Array) || !save) return value;
    const image = new Scalar(save(value, [key]));
    image.tag = '!image';
    return image;
  }) as never;
  return document.toString({ lineWidth: 120 });
}

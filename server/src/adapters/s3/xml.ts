/** The flat XML of S3's responses: elements whose content is text, or a sequence of such elements. */

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** The text of the first element with this name; undefined: none. */
export function textOf(xml: string, name: string): string | undefined {
  return contentsOf(xml, name)[0]?.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (all, decimal, hex, entity) => {
    if (entity !== undefined) return entities[entity] ?? all;
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return point <= 0x10ffff ? String.fromCodePoint(point) : all;
  });
}

/** The content of each element with this name. */
export function contentsOf(xml: string, name: string): string[] {
  return xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => rest.slice(0, Math.max(0, rest.indexOf(`</${name}>`))));
}

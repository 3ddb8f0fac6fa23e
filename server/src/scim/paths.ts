/** The URL with single slashes in its path: a base address that ends with a slash yields paths such as `//Users`. */
export function singleSlashes(url: string): string {
  const [path = '', ...query] = url.split(/(?=\?)/);
  return [path.replace(/\/{2,}/g, '/'), ...query].join('');
}

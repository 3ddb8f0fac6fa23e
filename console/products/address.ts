/** Normalizes an entered address: removes trailing slashes, and adds https if it has no scheme. */
export function addressOf(entered: string): string {
  const address = entered.trim().replace(/\/+$/, '');
  return address === '' || /^\w+:\/\//.test(address) ? address : `https://${address}`;
}

/** Whole addresses of the paths of a product. */
export function urisAt(address: string, paths: readonly string[] = []): string[] {
  return paths.map((path) => (/^https?:/.test(path) ? path : `${address}${path}`));
}

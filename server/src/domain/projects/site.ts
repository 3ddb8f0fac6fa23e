/** The host where users of an issuer sign in. Sessions and credentials belong to one. */
export interface Site {
  /** Origin of its pages. */
  origin: string;
  /** Relying-party id of its passkeys. */
  hostname: string;
  /** The custom domain, as rows of sessions and credentials store it; null: the host of the base address. */
  domain: string | null;
}

/**
 * The site of an issuer.
 *
 * @param issuer as rows store it; null: the base issuer
 */
export function siteOf(baseUrl: string, issuer: string | null | undefined): Site {
  const { origin, hostname } = new URL(issuer ?? baseUrl);
  return { origin, hostname, domain: origin === baseUrl ? null : hostname };
}

/** The origin of a custom domain: scheme and port are those of the base address. */
export function domainOrigin(baseUrl: string, host: string): string {
  const { protocol, port } = new URL(baseUrl);
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`;
}

/** A host name of at least two labels, in lower case and ASCII. Addresses have a last label of digits. */
export const hostSyntax = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The host name of a Host header (RFC 9112 section 3.2), or as typed: without port and final dot, in lower case. */
export function hostNameOf(header: string): string {
  return header
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
}

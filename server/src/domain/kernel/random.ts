/** The only source of randomness in the domain. */
export interface Random {
  bytes(count: number): Uint8Array;
  /** UUIDv7 (RFC 9562 §5.7): ordered by time, so that indexes stay compact and pages stable. */
  id(): string;
  /** Uniform in 0 … `below` − 1. */
  integer(below: number): number;
}

/** A 256-bit secret in base64url, 43 characters, optionally with a prefix for secret scanners. */
export function newSecret(random: Random, prefix = ''): string {
  return prefix + Buffer.from(random.bytes(32)).toString('base64url');
}

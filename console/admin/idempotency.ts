/** A mutation and the key of its request. */
export interface Attempt {
  /** The operation with its variables. */
  request: string;
  key: string;
}

/** The key of a request: that of the last attempt whose outcome is unknown, if it is the same request; else a new one. */
export function keyOf(request: string, unknown: Attempt | undefined): Attempt {
  return unknown?.request === request ? unknown : { request, key: newKey() };
}

/** 128 random bits. `crypto.randomUUID` exists only in secure contexts. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

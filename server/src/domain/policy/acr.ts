/** The acr of every sign-in (service.md 2.3, §9). */
export const defaultAcr = 'urn:service:pwdless:v1';

/**
 * Authentication context classes (OpenID Connect Extended Authentication Profile ACR Values 1.0 section 4), and the
 * methods that meet them: a passkey with PIN or biometrics; for `phrh` one that is bound to its device.
 */
const classes = new Map<string, readonly string[]>([
  ['phr', ['pop', 'mfa']],
  ['phrh', ['pop', 'mfa', 'hwk']],
]);

/** The acr that a request asks for. */
export interface AcrRequest {
  /** `acr_values`, or the values of the `acr` claim; the preferred one first. */
  values: readonly string[];
  /** Whether the request must fail if none is met (OpenID Connect Core section 5.5.1.1). */
  essential: boolean;
}

/** The class to state, of those that the request asks for; null: none is met. */
export function metAcr(values: readonly string[], amr: readonly string[]): string | null {
  const isMet = (value: string) =>
    value === defaultAcr || classes.get(value)?.every((method) => amr.includes(method)) === true;
  return values.find(isMet) ?? null;
}

const isKnown = (value: string) => value === defaultAcr || classes.has(value);

/** Whether some sign-in could meet one of the values. */
export function canBeMet(values: readonly string[]): boolean {
  return values.some(isKnown);
}

/** Whether the request prefers a class that not every sign-in meets. */
export function asksForMore({ values }: AcrRequest): boolean {
  return (values.find(isKnown) ?? defaultAcr) !== defaultAcr;
}

/**
 * Whether a sign-in by these methods lacks the acr of a request: an essential one, or one that its user could meet with a
 * passkey. Otherwise an application that asks everyone for passkeys would ask those without one for a code each time.
 */
export function lacksAcr({ values, essential }: AcrRequest, amr: readonly string[], hasPasskey: boolean): boolean {
  return metAcr(values, amr) === null && (essential || hasPasskey);
}

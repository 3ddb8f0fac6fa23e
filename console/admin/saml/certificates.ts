interface Certificate {
  signsFrom: string;
  publishedUntil: string | null;
  expiresAt: string;
}

/** Signs now, signs from a later time, or has a successor that signs. */
export type CertificateState = 'signs' | 'next' | 'former';

const warningDays = 90;
const dayMilliseconds = 24 * 3600 * 1000;

/** @param now in milliseconds since 1970 @param isFirst the API lists the signing one first */
export function certificateState({ signsFrom }: Certificate, now: number, isFirst: boolean): CertificateState {
  if (isFirst) return 'signs';
  return Date.parse(signsFrom) > now ? 'next' : 'former';
}

/** Whether the signing certificate expires soon and has no successor. */
export function needsRotation(certificates: readonly Certificate[], now: number): boolean {
  const [signing, ...others] = certificates;
  if (!signing || others.some(({ signsFrom }) => Date.parse(signsFrom) > now)) return false;
  return Date.parse(signing.expiresAt) < now + warningDays * dayMilliseconds;
}

/** The certificates of a text: PEM blocks, or the whole text as one. */
export function certificatesIn(text: string): string[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  const rest = text.trim();
  return blocks ? [...blocks] : rest === '' ? [] : [rest];
}

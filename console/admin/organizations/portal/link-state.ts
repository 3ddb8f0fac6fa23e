interface Link {
  usedAt: string | null;
  expiresAt: string;
  completedAt: string | null;
  revokedAt: string | null;
}

export type LinkState = 'sent' | 'opened' | 'completed' | 'expired' | 'revoked';

/** The state of a portal link at a time, in milliseconds since 1970. A completed set-up stays completed. */
export function linkState({ completedAt, expiresAt, revokedAt, usedAt }: Link, now: number): LinkState {
  if (revokedAt !== null) return 'revoked';
  if (completedAt !== null) return 'completed';
  if (Date.parse(expiresAt) <= now) return 'expired';
  return usedAt === null ? 'sent' : 'opened';
}

/** Whether it works, also after the set-up is complete. */
export const isOpen = ({ expiresAt, revokedAt }: Link, now: number): boolean =>
  revokedAt === null && Date.parse(expiresAt) > now;

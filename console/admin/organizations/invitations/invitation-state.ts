interface Invitation {
  expiresAt: string;
  acceptedAt: string | null;
  revokedAt: string | null;
}

export type InvitationState = 'pending' | 'expired' | 'accepted' | 'revoked';

/** The state of an invitation at a time, in milliseconds since 1970. */
export function invitationState({ acceptedAt, revokedAt, expiresAt }: Invitation, now: number): InvitationState {
  if (acceptedAt !== null) return 'accepted';
  if (revokedAt !== null) return 'revoked';
  return Date.parse(expiresAt) > now ? 'pending' : 'expired';
}

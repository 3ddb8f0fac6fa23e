/** Settings of a client that restrict its requests. */
export interface ClientDemands {
  tokenEndpointAuthMethod: string;
  pkceOptional: boolean;
  dpopRequired: boolean;
  dpopNonceRequired: boolean;
  pushedRequestsRequired: boolean;
  fapiProfile: boolean;
}

/** Whether the client must prove a key: its tokens are bound to it (RFC 9449 §5.2, FAPI 2.0 Security Profile §5.3.2.1). */
export function needsProof({
  dpopRequired,
  fapiProfile,
}: Pick<ClientDemands, 'dpopRequired' | 'fapiProfile'>): boolean {
  return dpopRequired || fapiProfile;
}

/** Whether a proof of the client lacks the nonce that it needs (RFC 9449 §8). */
export function lacksNonce(
  { dpopNonceRequired }: Pick<ClientDemands, 'dpopNonceRequired'>,
  { hasNonce }: { hasNonce: boolean },
): boolean {
  return dpopNonceRequired && !hasNonce;
}

/** Whether the client must push its requests (RFC 9126 §5, FAPI 2.0 Security Profile §5.3.2.2). */
export function needsPush({
  fapiProfile,
  pushedRequestsRequired,
}: Pick<ClientDemands, 'fapiProfile' | 'pushedRequestsRequired'>): boolean {
  return pushedRequestsRequired || fapiProfile;
}

/** Whether an administrator can allow the client to omit PKCE (RFC 7636): it is confidential. */
export function canOmitPkce({
  fapiProfile,
  tokenEndpointAuthMethod,
}: Pick<ClientDemands, 'fapiProfile' | 'tokenEndpointAuthMethod'>): boolean {
  return !fapiProfile && tokenEndpointAuthMethod !== 'none';
}

/** Whether the client may omit PKCE, where the issuer allows it. */
export function mayOmitPkce(
  client: Pick<ClientDemands, 'fapiProfile' | 'pkceOptional' | 'tokenEndpointAuthMethod'>,
): boolean {
  return canOmitPkce(client) && client.pkceOptional;
}

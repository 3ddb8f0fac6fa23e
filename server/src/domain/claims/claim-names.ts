/**
 * Claims that a mapping cannot set, in lower case: those with a meaning for the receiver of a token, which would let an
 * application's settings forge an identity or a right.
 */
const reserved = new Set([
  // RFC 7519 §4.1.
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'],
  // OpenID Connect Core §2, §3.3.2.11 and Session, Logout and CIBA specifications.
  ...[
    'nonce',
    'auth_time',
    'acr',
    'amr',
    'azp',
    'at_hash',
    'c_hash',
    's_hash',
    'sid',
    'events',
    'sub_jwk',
    'urn:openid:params:jwt:claim:rt_hash',
  ],
  // OpenID Connect Core §5.1.
  ...['name', 'given_name', 'family_name', 'middle_name', 'nickname', 'preferred_username', 'profile', 'picture'],
  ...['website', 'email', 'email_verified', 'gender', 'birthdate', 'zoneinfo', 'locale', 'phone_number'],
  ...['phone_number_verified', 'address', 'updated_at', 'verified_claims'],
  // RFC 7800, RFC 8693, RFC 9068, RFC 9396, RFC 9449, RFC 8417, RFC 9493.
  ...['cnf', 'act', 'may_act', 'scope', 'scp', 'client_id', 'authorization_details', 'htm', 'htu', 'ath', 'txn', 'toe'],
  ...['sub_id'],
  // RFC 7662 §2.2 and RFC 9701 §5.
  ...['active', 'username', 'token_type', 'token_introspection'],
  // The ID tokens of this service (service.md 2.3).
  'phone',
]);

const maxClaimName = 128;

/** The reason why a claim cannot have this name; null if it can. Names that begin with `_` have a meaning for libraries. */
export function claimNameFault(name: unknown): string | null {
  if (typeof name !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9_.:/#~-]*$/.test(name)) {
    return 'must begin with a letter or digit, and contain only letters, digits and _ . : / # ~ -';
  }
  if (name.length > maxClaimName) return `must have at most ${maxClaimName} characters`;
  if (reserved.has(name.toLowerCase())) return `is reserved: ${name}`;
  if (name in {}) return 'must not be a name that JavaScript objects have';
  return null;
}

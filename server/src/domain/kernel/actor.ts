/** The author of an action, as recorded in the audit log. Set once per request. */
export interface Actor {
  kind:
    | 'system'
    | 'user'
    | 'admin'
    | 'admin-token'
    | 'bootstrap-token'
    | 'setup-link'
    | 'portal-link'
    | 'scim'
    | 'client'
    | 'anonymous';
  /** Id of the user, token, link or client; absent for the system, the bootstrap token and anonymous callers. */
  id?: string;
  /** Display name. */
  name?: string;
  /** Address of the caller, according to the proxy setting. */
  ip?: string;
  userAgent?: string;
  requestId?: string;
  /** Opaque id of the sign-in that the action is a step of; all its events have it in `detail`. */
  signInId?: string;
}

export const system: Actor = { kind: 'system' };

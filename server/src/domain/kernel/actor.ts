/** Who does something, as the audit log names them. Decided once, where a request enters. */
export interface Actor {
  kind:
    | 'system'
    | 'user'
    | 'admin'
    | 'admin-token'
    | 'bootstrap-token'
    | 'setup-link'
    | 'scim'
    | 'client'
    | 'anonymous';
  /** Id of the user, token or client; absent for the system, the bootstrap token and strangers. */
  id?: string;
  /** A name that a person recognises in the log. */
  name?: string;
  /** Address of the caller, as the proxy setting says. */
  ip?: string;
  userAgent?: string;
  requestId?: string;
}

export const system: Actor = { kind: 'system' };

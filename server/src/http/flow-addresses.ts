/** The hosted page of a flow. @param over further parameters */
export function signinAddress(flow: string, over: Record<string, string> = {}): string {
  return `/signin?${new URLSearchParams({ flow, ...over })}`;
}

/** Where the hosted page leads after the sign-in. @param issuer the issuer of the flow's request */
export function resumeAddress(issuer: string, flow: string): string {
  return `${issuer}/authorize/resume?${new URLSearchParams({ flow })}`;
}

/** The path at which a connection begins to sign in for a flow. */
export function connectPath(connectionId: string, flow: string, more: Record<string, string> = {}): string {
  return `/connect/${connectionId}/start?${new URLSearchParams({ flow, ...more })}`;
}

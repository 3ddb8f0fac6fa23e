/** A secret of a project: lookups by it are in that project. */
export interface PortalSecret {
  projectId: string;
  secret: string;
}

const form = /^([\w-]{22})([\w-]{43})$/;

/** The form in links and cookies. */
export function portalToken({ projectId, secret }: PortalSecret): string {
  return Buffer.from(projectId.replaceAll('-', ''), 'hex').toString('base64url') + secret;
}

/** Null if malformed. */
export function readPortalToken(token: string): PortalSecret | null {
  const [, project = '', secret = ''] = form.exec(token) ?? [];
  if (secret === '') return null;
  const hex = Buffer.from(project, 'base64url').toString('hex');
  return { projectId: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), secret };
}

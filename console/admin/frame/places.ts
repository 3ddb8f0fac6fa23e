import type { IconName } from '../ui/icon.tsx';

export interface Place {
  to: string;
  label: string;
  icon: IconName;
  /** Other words that find the page in the palette. */
  keywords?: string;
}

export interface NavGroup {
  label: string;
  places: readonly Place[];
}

/** Pages of the instance; the logo's menu lists them. */
export function instancePlaces({ isOwner, hasDevMailbox }: { isOwner: boolean; hasDevMailbox: boolean }): Place[] {
  const projects: Place = {
    to: '/projects',
    label: 'Projects',
    icon: 'projects',
    keywords: 'tenants organizations',
  };
  if (!isOwner) return [projects];
  return [
    projects,
    { to: '/team', label: 'Team & roles', icon: 'team', keywords: 'owners admins api tokens access' },
    { to: '/audit', label: 'Audit', icon: 'events', keywords: 'log' },
    { to: '/keys', label: 'Signing keys', icon: 'lock', keywords: 'jwks jwk rotate certificates' },
    { to: '/system', label: 'System', icon: 'server', keywords: 'health status version backup jobs database' },
    ...(hasDevMailbox
      ? [{ to: '/mailbox', label: 'Dev mailbox', icon: 'mail', keywords: 'codes inbox smtp email' } as const]
      : []),
  ];
}

/** Pages of a project. */
export function projectPlaces(projectId: string): NavGroup[] {
  const at = (path: string, label: string, icon: IconName, keywords = ''): Place => ({
    to: `/projects/${projectId}/${path}`,
    label,
    icon,
    keywords,
  });
  return [
    {
      label: 'Project',
      places: [
        at('overview', 'Overview', 'overview', 'dashboard home charts statistics'),
        at(
          'applications',
          'Applications',
          'applications',
          'clients apps oauth oidc openid redirect uri client id api key secret',
        ),
        at('apis', 'APIs', 'server', 'resource servers scopes audience permissions'),
      ],
    },
    {
      label: 'People',
      places: [
        at(
          'users',
          'Users',
          'users',
          'people accounts members invite import csv deactivate suspend block disable erase delete gdpr',
        ),
        at('groups', 'Groups', 'groups', 'teams'),
        at('directory', 'Directory sync', 'directory', 'scim provisioning okta entra azure onelogin jumpcloud active'),
      ],
    },
    {
      label: 'Sign-in',
      places: [
        at(
          'factors',
          'Sign-in & MFA',
          'shield',
          '2fa mfa two-factor multi-factor second factor otp totp sms authenticator passkeys webauthn fido sign-up trusted devices',
        ),
        at('session-policy', 'Session policy', 'clock', 'timeout idle lifetime expiry refresh access token sign-out'),
        at('experience', 'Branding', 'brush', 'logo colour color theme appearance'),
      ],
    },
    {
      label: 'Activity',
      places: [
        at('events', 'Events', 'events', 'audit log'),
        at('troubleshooting', 'Troubleshooting', 'help', 'failed sign-in error support'),
        at('messages', 'Messages', 'mail', 'mail email e-mail smtp sms templates texts delivery'),
        at('webhooks', 'Webhooks', 'code', 'event streams hooks'),
        at('log-streams', 'Log streams', 'stream', 'event streams siem syslog splunk datadog'),
        at('logout-deliveries', 'Logout deliveries', 'external', 'back-channel backchannel slo'),
      ],
    },
    {
      label: 'Administration',
      places: [
        at('team', 'Project team', 'team', 'admins roles permissions access'),
        at('settings', 'Settings', 'settings', 'rename name domain custom delete'),
      ],
    },
  ];
}

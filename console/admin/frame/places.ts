import { t } from '../language/language.ts';
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
    label: t('Projects'),
    icon: 'projects',
    keywords: t('tenants organizations'),
  };
  const explorer: Place = {
    to: '/explorer',
    label: t('API explorer'),
    icon: 'code',
    keywords: t('graphql graphiql sandbox admin api rest openapi'),
  };
  if (!isOwner) return [projects, explorer];
  return [
    projects,
    { to: '/team', label: t('Team & roles'), icon: 'team', keywords: t('owners admins api tokens access') },
    { to: '/audit', label: t('Audit'), icon: 'events', keywords: t('log') },
    { to: '/keys', label: t('Signing keys'), icon: 'lock', keywords: t('jwks jwk rotate certificates') },
    { to: '/system', label: t('System'), icon: 'server', keywords: t('health status version backup jobs database') },
    explorer,
    ...(hasDevMailbox
      ? [{ to: '/mailbox', label: t('Dev mailbox'), icon: 'mail', keywords: t('codes inbox smtp email') } as const]
      : []),
  ];
}

type Page = readonly [path: string, label: string, icon: IconName, keywords: string];

const projectPages: readonly { label: string; pages: readonly Page[] }[] = [
  {
    label: t('Project'),
    pages: [
      ['overview', t('Overview'), 'overview', t('dashboard home charts statistics')],
      [
        'applications',
        t('Applications'),
        'applications',
        t('clients apps oauth oidc openid redirect uri client id api key secret'),
      ],
      ['apis', 'APIs', 'server', t('resource servers scopes audience permissions')],
    ],
  },
  {
    label: t('People'),
    pages: [
      [
        'users',
        t('Users'),
        'users',
        t('people accounts members invite import csv deactivate suspend block disable erase delete gdpr'),
      ],
      ['groups', t('Groups'), 'groups', t('teams')],
      ['organizations', t('Organizations'), 'building', t('customers companies tenants b2b')],
      [
        'directory',
        t('Directory sync'),
        'directory',
        t('scim provisioning okta entra azure onelogin jumpcloud active'),
      ],
    ],
  },
  {
    label: t('Sign-in'),
    pages: [
      [
        'factors',
        t('Sign-in & MFA'),
        'shield',
        t(
          '2fa mfa two-factor multi-factor second factor otp totp sms authenticator passkeys webauthn fido sign-up trusted devices',
        ),
      ],
      [
        'connections',
        t('Connections'),
        'link',
        t('identity providers sso single sign-on social login google okta entra'),
      ],
      [
        'enterprise-credentials',
        t('Enterprise credentials'),
        'key',
        t('saml metadata certificate entity id sso slo scim token'),
      ],
      ['session-policy', t('Session policy'), 'clock', t('timeout idle lifetime expiry refresh access token sign-out')],
      ['experience', t('Branding'), 'brush', t('logo colour color theme appearance')],
    ],
  },
  {
    label: t('Activity'),
    pages: [
      ['events', t('Events'), 'events', t('audit log')],
      ['troubleshooting', t('Troubleshooting'), 'help', t('failed sign-in error support')],
      ['messages', t('Messages'), 'mail', t('mail email e-mail smtp sms templates texts delivery')],
      ['webhooks', t('Webhooks'), 'code', t('event streams hooks')],
      ['log-streams', t('Log streams'), 'stream', t('event streams siem syslog splunk datadog')],
      ['logout-deliveries', t('Logout deliveries'), 'external', t('back-channel backchannel slo')],
    ],
  },
  {
    label: t('Administration'),
    pages: [
      ['team', t('Project team'), 'team', t('admins roles permissions access')],
      ['settings', t('Settings'), 'settings', t('rename name domain custom delete')],
    ],
  },
];

/** @param hasOrganizations the project has organizations */
export function projectPlaces(projectId: string, hasOrganizations: boolean): NavGroup[] {
  return projectPages.map((group) => ({
    label: group.label,
    places: group.pages
      .filter(([path]) => hasOrganizations || path !== 'organizations')
      .map(([path, label, icon, keywords]) => ({
        to: `/projects/${projectId}/${path}`,
        ...{ label, icon, keywords },
      })),
  }));
}

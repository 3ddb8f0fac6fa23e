import { Anchor, Kbd, Stack, Switch, Text } from '@mantine/core';
import { useLocation } from 'react-router';
import { useQuery } from '../api.ts';
import { ProjectById } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { settings } from '../settings.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { Facts } from '../ui/lists/facts.tsx';
import { docsOf } from './docs-of.ts';

const keys = [
  [t('Ctrl K or ⌘ K'), t('Search, navigate, or run an action on this page')],
  ['?', t('This help')],
  ['↑ ↓ Enter', t('Choose in a list of results')],
  ['Tab', t('Next control')],
  ['Esc', t('Close')],
] as const;

interface HelpProps {
  projectId: string | undefined;
  hasSingleKeys: boolean;
  onSingleKeys(has: boolean): void;
}

/** Keyboard shortcuts and endpoints: those of the project, then those of the instance. */
export function Help({ projectId, hasSingleKeys, onSingleKeys }: HelpProps) {
  const { issuer } = settings;
  const { data } = useQuery(ProjectById, { id: projectId ?? '' }, { pause: projectId === undefined });
  const project = data?.project;
  const { pathname } = useLocation();
  return (
    <Stack>
      <Anchor href={docsOf(pathname)} target="_blank">
        {t('Documentation of this page')}
      </Anchor>
      <Text component="h3" fw={600}>
        {t('Keyboard')}
      </Text>
      <Facts labelWidth="9rem" facts={keys.map(([key, action]) => [<Kbd key={key}>{key}</Kbd>, action])} />
      <Switch
        size="sm"
        label={t('Single-key shortcuts')}
        checked={hasSingleKeys}
        onChange={({ currentTarget }) => onSingleKeys(currentTarget.checked)}
      />
      {project && (
        <>
          <Text component="h3" fw={600}>
            {t('Project issuer')}
          </Text>
          <CopyField
            label={t('Issuer')}
            value={project.issuer}
            hint={t('Use either issuer; the project issuer offers more, such as client secrets and RS256.')}
          />
          <CopyField label={t('Discovery document')} value={`${project.issuer}/.well-known/openid-configuration`} />
          <CopyField label={t('Authorization endpoint')} value={`${project.issuer}/authorize`} />
          <CopyField label={t('Token endpoint')} value={`${project.issuer}/oauth2/token`} />
          <CopyField label={t('UserInfo endpoint')} value={`${project.issuer}/userinfo`} />
          <CopyField label={t('Logout endpoint')} value={`${project.issuer}/oauth2/end_session`} />
          <CopyField label={t('Signing keys (JWKS)')} value={`${project.issuer}/.well-known/jwks.json`} />
        </>
      )}
      <Text component="h3" fw={600}>
        {t('Base issuer')}
      </Text>
      <CopyField
        label={t('Issuer')}
        value={issuer}
        hint={t('Same for all projects. Libraries discover all endpoints from it.')}
      />
      <CopyField label={t('Discovery document')} value={`${issuer}/.well-known/openid-configuration`} />
      <CopyField label={t('Signing keys (JWKS)')} value={`${issuer}/.well-known/jwks.json`} />
      <CopyField
        label={t('Admin API (GraphQL)')}
        value={`${issuer}/admin/graphql`}
        hint={t('The console uses this API for everything.')}
      />
      <CopyField label={t('REST interfaces (OpenAPI)')} value={`${issuer}/openapi.json`} />
    </Stack>
  );
}

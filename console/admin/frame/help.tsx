import { Kbd, Stack, Switch, Text } from '@mantine/core';
import { t } from '../language/language.ts';
import { settings } from '../settings.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { Facts } from '../ui/lists/facts.tsx';

const keys = [
  [t('Ctrl K or ⌘ K'), t('Search, navigate, or run an action on this page')],
  ['?', t('This help')],
  ['↑ ↓ Enter', t('Choose in a list of results')],
  ['Tab', t('Next control')],
  ['Esc', t('Close')],
] as const;

interface HelpProps {
  hasSingleKeys: boolean;
  onSingleKeys(has: boolean): void;
}

/** Keyboard shortcuts and endpoints. */
export function Help({ hasSingleKeys, onSingleKeys }: HelpProps) {
  const { issuer } = settings;
  return (
    <Stack>
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
      <Text component="h3" fw={600}>
        {t('Endpoints')}
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
